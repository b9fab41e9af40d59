"""Small files that are replaced whole or not at all, whatever is killed meanwhile."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

T = TypeVar("T")
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
LONGEST = 40  # signs of a name; a file system allows 255 bytes, and 4 a sign


OWN = 0o600
"""The mode of what its owner alone may read."""


def mode_in(folder: Path) -> int:
    """Return the mode of what a run keeps: for the owner alone, or also for a group that may read the run's folder.
    Raises OSError."""
    return OWN | (0o040 if folder.stat().st_mode & 0o040 else 0)


def write_whole(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Write bytes as `written_whole` does."""
    with written_whole(path, mode) as file:
        file.write(data)


@contextmanager
def written_whole(path: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Open a temporary file beside `path`; at the end it is flushed to disk and renamed. Raises OSError; then nothing
    is left over and the old file stands. `mode`: of the file, less the umask.
    """
    temporary = path.with_name(f".{path.name[:LONGEST]}.{os.getpid()}.tmp")
    try:
        with suppress(FileNotFoundError):
            temporary.unlink()  # of a killed process that had this pid, or a link that somebody put there
        with os.fdopen(os.open(temporary, _NEW, mode), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise


def is_disk_full(folder: Path) -> bool:
    """Return whether the disk of a folder has no room for this user; False where nobody can tell."""
    try:
        status = os.statvfs(folder)
    except OSError:
        return False
    return status.f_blocks > 0 and not (status.f_bavail if os.geteuid() else status.f_bfree)


def write_json(path: Path, value: Any, mode: int = 0o666) -> None:
    write_whole(path, msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n", mode)


def open_append(path: Path) -> int:
    """Open a file of a run for reading and appending, made with `mode_in`; return the descriptor. Raises OSError, also
    where the path is a symbolic link.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    return os.open(path, flags, mode_in(path.parent))


def read_as(path: Path, kind: type[T]) -> T | None:
    """Return a value of a type that msgspec knows; None where the file is missing, damaged, or written by another
    studio.
    """
    try:
        return msgspec.convert(read_json(path), kind)
    except msgspec.ValidationError:
        return None


def read_json(path: Path) -> Any:
    """Return the value, or None where the file is missing, unreadable or not JSON."""
    try:
        return msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
