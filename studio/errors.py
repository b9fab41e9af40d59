"""Errors as keys of the catalogue: whoever shows one picks the language."""

from __future__ import annotations

from typing import Any


class StudioError(Exception):
    """An error that a person can act on. `key` and `args` make its sentence (`studio.texts`)."""

    def __init__(self, key: str, /, **args: Any) -> None:
        super().__init__(key, args)
        self.key = key
        self.values = args

    def __str__(self) -> str:
        from studio.texts import t

        return t(self.key, **self.values)


class Stopped(Exception):
    """The user asked this worker to stop."""


def from_os(error: OSError, path: object) -> StudioError:
    """Return the sentence for a file error: full disk, no permission, read-only, anything else."""
    import errno

    keys = {
        errno.ENOSPC: "error.disk_full",
        errno.EDQUOT: "error.disk_full",
        errno.EACCES: "error.not_writable",
        errno.EPERM: "error.not_writable",
        errno.EROFS: "error.not_writable",
        errno.ENOENT: "error.no_such_file",
        errno.ENOTDIR: "error.no_such_file",
    }
    return StudioError(keys.get(error.errno or 0, "error.file"), path=str(path), reason=error.strerror or str(error))


def print_traceback() -> None:
    """Print the exception that is handled just now. A full disk under the log must not become another exception."""
    import traceback
    from contextlib import suppress

    with suppress(OSError):
        traceback.print_exc()
