"""Profiles that were read, as folders of columns below the cache home; `<key>` is made of the content (content.py).

<key>/               the columns, whole: renamed into place when all is written
<key>.lock           held by who reads the profile; the others wait for it
<key>.use            held by who shows it, so that it is not removed meanwhile; its time is that of the last use
<key>.build-*        being written, <key>.partial-*: the first part of it, for a window; <key>.gone-*: being removed"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from backends.timeline.build.column_bounds import check_columns
from backends.timeline.build.locks import Lock, lock
from backends.timeline.build.seal import check_seal, write_seal
from backends.timeline.trace import Trace, open_trace
from studio.paths import cache_home

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from backends.timeline.trace import Trace


MAX_BYTES = 20_000_000_000  # bytes of all profiles together, or a tenth of the disk where that is less
OLD = 86_400  # seconds after which what is unfinished is left over, where there are no locks


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A profile in the cache, which `lease` keeps from being removed."""

    trace: Trace
    folder: Path
    lease: Lock


def home() -> Path:
    """Return the cache folder, creating it where it is missing. Raises OSError."""
    folder = cache_home() / "timeline"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(OSError):  # names of a private model; folders of an earlier version were open to all
        if folder.stat().st_mode & 0o077:
            folder.chmod(0o700)
    return folder


def entry(key: str, root: Path) -> Entry | None:
    """Return the stored profile, or None where there is none, or it is damaged or not of this user's making. Reads all
    its columns once, 0.3 ms per MB. Raises OSError where the cache cannot be used at all."""
    folder = home() / key
    if not folder.is_dir():
        return None
    lease = _lease(key)
    try:
        check_seal(folder)
        trace = open_trace(folder, root)
        check_columns(trace)
    except (OSError, ValueError, EOFError, msgspec.MsgspecError):
        return None
    return Entry(trace=trace, folder=folder, lease=lease)


def _lease(key: str) -> Lock:
    path = home() / f"{key}.use"
    held = lock(path, shared=True)
    if held is None:
        raise BlockingIOError(path)
    with suppress(OSError):
        os.utime(path)
    return held


@contextmanager
def reading(key: str) -> Iterator[None]:
    """Hold the exclusive right to read a profile; other processes wait. Leftovers of a killed reader are removed.
    Raises OSError."""
    held = lock(home() / f"{key}.lock")
    try:
        if held and held.real:
            _remove(home().glob(f"{key}.[bp]*-*"))
        yield
    finally:
        if held:
            held.close()


@contextmanager
def unfinished(key: str, what: str) -> Iterator[Path]:
    """Yield a folder to write into ("build" or "partial"); whatever is left of it at the end is removed."""
    folder = home() / f"{key}.{what}-{os.getpid()}-{os.urandom(4).hex()}"
    try:
        yield folder
    finally:
        _remove([folder])


def put(built: Path, key: str, root: Path) -> Entry:
    """Seal what was built, rename it into its place, and make room for it. Without file locks another process may have
    been faster: then its result is used. Raises OSError."""
    lease = _lease(key)
    write_seal(built)
    folder = home() / key
    if folder.exists() and entry(key, root) is None:
        _away(folder)
    try:
        built.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise
    trace = open_trace(folder, root)
    check_columns(trace)
    with suppress(OSError):  # what cannot be removed is no reason not to show this
        tidy()
    return Entry(trace=trace, folder=folder, lease=lease)


def tidy() -> None:
    """Remove abandoned folders, and evict the profiles that were unused for longest, down to the limit. Profiles that
    are open anywhere stay."""
    names = os.listdir(home())
    for key in {name.partition(".")[0] for name in names if "." in name}:
        _tidy_up(key, [name for name in names if name.startswith(f"{key}.")])
    entries = sorted((name for name in names if "." not in name), key=_last_use)
    sizes = {name: _size(home() / name) for name in entries}
    total, bound = sum(sizes.values()), min(MAX_BYTES, shutil.disk_usage(home()).total // 10)
    for name in entries:
        if total > bound and _evict(name):
            total -= sizes[name]


def _tidy_up(key: str, names: list[str]) -> None:
    left = [home() / name for name in names if ".build-" in name or ".partial-" in name]
    _remove(home() / name for name in names if ".gone-" in name)
    held = lock(home() / f"{key}.lock", wait=False) if left else None
    if held:
        _remove(path for path in left if held.real or _age(path) > OLD)
        held.close()


def _evict(key: str) -> bool:
    """Remove a profile from the cache, unless it is open somewhere."""
    alone = lock(home() / f"{key}.use", wait=False)
    reader = lock(home() / f"{key}.lock", wait=False)
    try:
        if not (alone and reader and alone.real):
            return False
        _away(home() / key)
        for ending in ("use", "lock"):
            (home() / f"{key}.{ending}").unlink(missing_ok=True)
        return True
    finally:
        for held in (alone, reader):
            if held:
                held.close()


def _away(folder: Path) -> None:
    """Make a folder disappear for everybody at once, however long its removal takes."""
    gone = folder.with_name(f"{folder.name}.gone-{os.urandom(4).hex()}")
    with suppress(OSError):
        folder.rename(gone)
        _remove([gone])


def _remove(folders: Iterator[Path] | list[Path]) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _last_use(key: str) -> float:
    return -max(_age(home() / f"{key}.use"), 0.0)


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return float(OLD)


def _size(folder: Path) -> int:
    with suppress(OSError), os.scandir(folder) as files:
        return sum(file.stat().st_size for file in files)
    return 0
