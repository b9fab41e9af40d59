"""The cache of earlier scans, so that only changed files are scanned again: one file per project, written atomically.

The scan of a file holds while its content, the exports of other modules that it asked for, and our rules stay the same.
Unchanged content is recognised by inode, size and times, as git does, except for files that changed just before.
"""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from studio import files, paths

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 256_000_000
"""Bytes of all projects together; those not scanned for longest go first."""
RECENT_NS = 2_000_000_000
"""ns before a scan within which a second change may leave the same times."""
_CHECK = 16


class CachedFile(msgspec.Struct, frozen=True, array_like=True):
    """`stamp`: as in SourceFile. `digest`: of the content. `exported`: ModuleExports. `questions`, `texts`: what the
    scan asked of other modules, with their answers (see RecordingExports). `scan`: a FileScan."""

    stamp: tuple[int, int, int, int]
    digest: bytes
    exported: msgspec.Raw
    questions: msgspec.Raw
    texts: dict[str, str | None]
    scan: msgspec.Raw


class ScanCache(msgspec.Struct, frozen=True, array_like=True):
    """`identity`: of rules and facts. `started`: when that scan began, ns since the epoch. `exports`: digest of the
    exports of all modules. `shared_answers`: what each module's scan depends on without asking."""

    identity: str = ""
    started: int = 0
    exports: str = ""
    shared_answers: str = ""
    files: dict[str, CachedFile] = {}

    def unchanged_file(self, path: str, stamp: tuple[int, int, int, int]) -> CachedFile | None:
        """Return the cached scan of a file that has not changed since, else None."""
        cached = self.files.get(path)
        if cached is None or cached.stamp != stamp or max(stamp[2:]) > self.started - RECENT_NS:
            return None
        return cached


def content_digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_CHECK).digest()


def rules_identity(facts: str) -> str:
    """Digest what a scan depends on besides the files: our code, our tables and the fingerprint of the facts."""
    sources = [*(paths.ROOT / "backends" / "migration").rglob("*.py"), *(paths.ASSETS / "migration").glob("*")]
    stamps = sorted((str(path), status.st_size, status.st_mtime_ns) for path in sources if (status := path.stat()))
    text = repr((stamps, sys.version, facts)).encode("utf-8", "replace")
    return content_digest(text).hex()


def _folder() -> Path:
    return paths.cache_home() / "migration"


def _path(project: Path) -> Path:
    return _folder() / f"{content_digest(os.fsencode(os.path.realpath(project))).hex()}.pack"


def load_cache(project: Path, identity: str) -> ScanCache:
    """Return the cache of the last scan, empty where there is none, it is damaged, or other rules made it."""
    try:
        data = _path(project).read_bytes()
        if data[:_CHECK] == content_digest(data[_CHECK:]):
            scan_cache = msgspec.msgpack.decode(memoryview(data)[_CHECK:], type=ScanCache)
            return scan_cache if scan_cache.identity == identity else ScanCache()
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass
    return ScanCache()


def save_cache(project: Path, scan_cache: ScanCache) -> None:
    """Write the cache. Where that fails everything stays as it was: a cache is never worth a failure."""
    body = msgspec.msgpack.encode(scan_cache)
    path = _path(project)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_whole(path, content_digest(body) + body)
        _remove_oldest(path)


def _remove_oldest(keep: Path) -> None:
    packs = sorted(((path.stat(), path) for path in _folder().glob("*.pack")), key=lambda pair: -pair[0].st_mtime_ns)
    total = 0
    for status, path in packs:
        total += status.st_size
        if total > MAX_BYTES and path != keep:
            path.unlink(missing_ok=True)
