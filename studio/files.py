"""Small files that are there whole or not at all, whatever is killed in between."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T")


def write_whole(path: Path, data: bytes) -> None:
    """Write beside, flush to disk, rename. Raises OSError; then nothing is left and the old file stands."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError:
        with suppress(OSError):
            beside.unlink()
        raise


def write_json(path: Path, value: Any) -> None:
    write_whole(path, msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")


def read_as(path: Path, kind: type[T]) -> T | None:
    """A value of a kind that msgspec knows; None where the file is missing, damaged, or of another studio."""
    try:
        return msgspec.convert(read_json(path), kind)
    except msgspec.ValidationError:
        return None


def read_json(path: Path) -> Any:
    """The value, or None where the file is missing, unreadable or not JSON."""
    try:
        return msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
