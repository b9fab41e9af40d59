"""What earlier scans read, so that only what changed is read again: one file per project, whole or not there.

A file's reading holds while its content, what the project's other modules tell it, and our rules stay the same. That
the content is the same is taken from inode, size and times, as git does, but not for what changed just before.
"""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from studio import files, places

if TYPE_CHECKING:
    from pathlib import Path

MOST = 256_000_000
"""Bytes of all projects together; those not scanned for longest go first."""
JUST_NOW = 2_000_000_000
"""ns before a scan within which a second change may leave the same times."""
_CHECK = 16


class Kept(msgspec.Struct, frozen=True, array_like=True):
    """`stamp` as in Entry; `digest` of the content; `exported`: what it tells other modules; `questions` and `texts`:
    what it asked of them, and their answers (`told.Asked`); `reading`: a Reading."""

    stamp: tuple[int, int, int, int]
    digest: bytes
    exported: msgspec.Raw
    questions: msgspec.Raw
    texts: dict[str, str | None]
    reading: msgspec.Raw


class Pack(msgspec.Struct, frozen=True, array_like=True):
    """`identity`: of rules and facts; `begun`: when that scan began, ns since the epoch; `exports`: digest of what all
    modules tell; `everywhere`: what they tell every reader."""

    identity: str = ""
    begun: int = 0
    exports: str = ""
    everywhere: str = ""
    files: dict[str, Kept] = {}

    def same(self, path: str, stamp: tuple[int, int, int, int]) -> Kept | None:
        """What is kept of a file that has not changed since."""
        kept = self.files.get(path)
        if kept is None or kept.stamp != stamp or max(stamp[2:]) > self.begun - JUST_NOW:
            return None
        return kept


def digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_CHECK).digest()


def identity(facts: str) -> str:
    """Of what a reading follows from beside the files: our own code, the tables and the facts (their fingerprint)."""
    sources = [*(places.ROOT / "backends" / "migration").rglob("*.py"), *(places.ASSETS / "migration").glob("*")]
    known = sorted((str(path), found.st_size, found.st_mtime_ns) for path in sources if (found := path.stat()))
    whole = repr((known, sys.version, facts)).encode("utf-8", "replace")
    return digest(whole).hex()


def _folder() -> Path:
    return places.cache_home() / "migration"


def _path(project: Path) -> Path:
    return _folder() / f"{digest(os.fsencode(os.path.realpath(project))).hex()}.pack"


def load(project: Path, wanted: str) -> Pack:
    """The pack of the last scan, empty where there is none, it is damaged, or other rules made it."""
    try:
        data = _path(project).read_bytes()
        if data[:_CHECK] == digest(data[_CHECK:]):
            pack = msgspec.msgpack.decode(memoryview(data)[_CHECK:], type=Pack)
            return pack if pack.identity == wanted else Pack()
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass
    return Pack()


def save(project: Path, pack: Pack) -> None:
    """Leaves everything as it was where it cannot be written: a cache is never worth a failure."""
    body = msgspec.msgpack.encode(pack)
    path = _path(project)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_whole(path, digest(body) + body)
        _make_room(path)


def _make_room(written: Path) -> None:
    packs = sorted(((one.stat(), one) for one in _folder().glob("*.pack")), key=lambda pair: -pair[0].st_mtime_ns)
    total = 0
    for found, one in packs:
        total += found.st_size
        if total > MOST and one != written:
            one.unlink(missing_ok=True)
