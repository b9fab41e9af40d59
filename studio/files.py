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
LONGEST = 40  # signs of a name; a file system allows 255 bytes, and 4 a sign


def write_whole(path: Path, data: bytes) -> None:
    """Write bytes as `written_whole` does."""
    with written_whole(path) as file:
        file.write(data)


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file beside `path`; at the end it is flushed to disk and renamed. Raises OSError; then nothing
    is left over and the old file stands.
    """
    temporary = path.with_name(f".{path.name[:LONGEST]}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise


def write_json(path: Path, value: Any) -> None:
    write_whole(path, msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")


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
