"""Small files that are replaced whole or not at all, whatever is killed meanwhile."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
LONGEST = 40  # signs of a name; a file system allows 255 bytes, and 4 a sign


OWN = 0o600
"""The mode of what its owner alone may read."""


def mode_in(folder: Path) -> int:
    """Return the mode of what a run keeps: for the owner alone, or also for a group that may read the run's folder.
    Raises OSError."""
    return OWN | (0o040 if folder.stat().st_mode & 0o040 else 0)


def exists(path: Path) -> bool:
    """Return whether something is there. Nothing is where nobody could look: the name is too long, a folder closed."""
    try:
        return path.exists()
    except OSError:
        return False


def is_file(path: Path) -> bool:
    """Return whether a file is there; as `exists`, it never raises."""
    try:
        return path.is_file()
    except OSError:
        return False


LARGEST_JSON = 1 << 28
"""Bytes of a file of ours that is read at once; one that somebody made may be as large as a disk allows."""


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


def make_own_folder(path: Path) -> bool:
    """Make a folder where it is missing; return whether it is this user's alone: nobody else may write to it, owns what
    is in it, or can put another one in its place unless its group allows that.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.is_symlink() or path.stat().st_uid != os.geteuid():
            return False
        path.chmod(0o700)
        inside = (Path(parent, name) for parent, folders, names in os.walk(path) for name in (*folders, *names))
        if any(entry.lstat().st_uid != os.geteuid() for entry in inside):
            return False
        return all(map(_is_safe_parent, Path(os.path.realpath(path)).parents))
    except OSError:
        return False


def _is_safe_parent(folder: Path) -> bool:
    state = folder.stat()
    return state.st_uid in (0, os.geteuid()) and (
        not state.st_mode & stat.S_IWOTH or bool(state.st_mode & stat.S_ISVTX)
    )


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


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading. Raises OSError, also for a pipe or a device: a folder may come from somebody
    else, and a read of those waits for ever.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), str(path))


def read_bytes(path: Path, limit: int | None = None) -> bytes:
    """Return the content of a regular file. Raises OSError as `open_regular` does, and where it has more bytes than
    `limit`.
    """
    with open_regular(path) as file:
        if limit is not None and os.fstat(file.fileno()).st_size > limit:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
        return file.read()


def read_json(path: Path, limit: int = LARGEST_JSON) -> Any:
    """Return the value, or None where the file is missing, unreadable, larger than `limit` bytes or not JSON."""
    try:
        return msgspec.json.decode(read_bytes(path, limit))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
