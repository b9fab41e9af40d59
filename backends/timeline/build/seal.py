"""Seals of what lies in the cache: a checksum of each file, under a key of this user.

A bad disk, another program or an older kill may change a column without changing its length: its numbers would be shown
as times. And a folder that somebody else put there is not what was read. A file without a valid seal is read anew.
CRC-32 (3 to 4 GB/s, 0.3 ms per MB of columns) finds damage; the key makes a seal of another user or host worthless.
"""

from __future__ import annotations

import hmac
import os
import zlib
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec

from studio import files
from studio.paths import state_home

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SEAL = "seal.json"
KEY_BYTES = 32
_BLOCK = 1 << 20
_LARGEST_SEAL = 1 << 22


class Seal(msgspec.Struct, frozen=True, kw_only=True):
    """`sums`: name of a file -> (bytes, CRC-32). `mac`: BLAKE2b of them under this user's key, hexadecimal."""

    sums: dict[str, tuple[int, int]]
    mac: str


def write_seal(folder: Path) -> None:
    """Seal all files of a folder of columns. Raises OSError."""
    names = sorted(os.listdir(folder))
    _write(folder / SEAL, folder, [name for name in names if name != SEAL])


def write_file_seal(path: Path) -> None:
    """Seal a file that was added to a folder later. Raises OSError."""
    _write(_seal_of(path), path.parent, [path.name])


def check_seal(folder: Path) -> None:
    """Check every file that a seal names. Raises ValueError where one differs or the seal is not this user's, OSError
    where one is missing."""
    _check(folder / SEAL, folder)


def check_file_seal(path: Path) -> None:
    """Check a file that was sealed by itself. Raises ValueError or OSError as `check_seal`."""
    if path.name not in _check(_seal_of(path), path.parent):
        raise ValueError(path.name)


def _seal_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.seal")


def _write(path: Path, folder: Path, names: Iterable[str]) -> None:
    sums = {name: _sum(folder / name) for name in names}
    files.write_json(path, Seal(sums=sums, mac=_mac(sums)), files.OWN)


def _check(path: Path, folder: Path) -> dict[str, tuple[int, int]]:
    seal = msgspec.json.decode(files.read_bytes(path, _LARGEST_SEAL), type=Seal)
    if not hmac.compare_digest(seal.mac.encode("utf-8", "replace"), _mac(seal.sums).encode()):
        raise ValueError("seal")
    for name, total in seal.sums.items():
        if os.sep in name or _sum(folder / name) != total:
            raise ValueError(name)
    return seal.sums


def _sum(path: Path) -> tuple[int, int]:
    total, length, block = 0, 0, bytearray(_BLOCK)
    with files.open_regular(path) as file:
        while count := os.readv(file.fileno(), [block]):
            total = zlib.crc32(memoryview(block)[:count], total)
            length += count
    return length, total


def _mac(sums: dict[str, tuple[int, int]]) -> str:
    return blake2b(msgspec.json.encode(sorted(sums.items())), key=_key(), digest_size=32).hexdigest()


def _key() -> bytes:
    """Return this user's key, made on first use. Where none can be kept, the seal is of the files alone."""
    path = state_home() / "timeline" / "cache.key"
    with suppress(OSError):
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            _create(path)
        if _is_private(path) and len(key := files.read_bytes(path, KEY_BYTES)) == KEY_BYTES:
            return key
    return b""


def _create(path: Path) -> None:
    """Make the key, whole before anybody sees it; of two that make it at once, the first one's stays."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.unlink(missing_ok=True)
    files.write_whole(temporary, os.urandom(KEY_BYTES), files.OWN)
    try:
        with suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _is_private(path: Path) -> bool:
    state = path.lstat()
    return state.st_uid == os.geteuid() and not state.st_mode & 0o077
