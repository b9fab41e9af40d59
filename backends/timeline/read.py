"""Opening a profile: from the cache, or read anew into it. Nothing is written beside the data."""

from __future__ import annotations

import errno
import os
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from backends.timeline.build import cache
from backends.timeline.build.assemble import assemble
from backends.timeline.build.content import key_of
from backends.timeline.find import Finding, Found, Remark, find, unreadable
from backends.timeline.gather import Gather
from studio.errors import StudioError, from_os
from studio.places import cache_home
from studio.texts import t
from studio.uncollected import uncollected

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator

    from backends.timeline.build.locks import Lock
    from backends.timeline.trace import Trace

    Tell = Callable[[int, int], None]
    Show = Callable[[Path], None]

NO_FOLDER = (errno.ENOENT, errno.ENOTDIR, errno.EEXIST, errno.EACCES, errno.EPERM, errno.EROFS)
FIRST_LOOK = 0.4  # seconds of CPU after which a window is shown what there is


@dataclass(frozen=True, kw_only=True)
class Opened:
    """`fresh`: it was read now. `lease`: keeps the cache's folder as long as this is not forgotten."""

    trace: Trace
    cache: Path
    fresh: bool
    notes: tuple[Remark, ...]
    lease: Lock


def open_cached(path: Path) -> Opened | None:
    """At once, or None where the profile must be read first. Raises StudioError where there is no profile."""
    finding, root = find(path), root_of(path)
    with _told():
        found = cache.entry(key_of(finding.sources, root), root)
    return _opened(found, finding.remarks, fresh=False) if found else None


def read_profile(path: Path, tell: Tell, show: Show | None = None) -> Opened:
    """`tell` takes bytes done and bytes in all, and may raise to cancel: then nothing is left. `show` takes the folder
    of a first part, once, if reading is long; it is gone when this returns. Raises StudioError."""
    finding, root = find(path), root_of(path)
    with _told(), uncollected():
        return _read(finding, root, tell, show, again=True)


def root_of(path: Path) -> Path:
    """The folder that the paths of the sources begin in."""
    return path if path.is_dir() else path.parent


def _read(finding: Finding, root: Path, tell: Tell, show: Show | None, *, again: bool) -> Opened:
    key = key_of(finding.sources, root)
    with cache.reading(key), cache.unfinished(key, "build") as built, cache.unfinished(key, "partial") as partial:
        if found := cache.entry(key, root):
            return _opened(found, finding.remarks, fresh=False)
        progress = _Progress(
            sizes=[_size(found.path) for found in finding.sources],
            said=tell,
            first_look=_first_look(partial, root, show),
        )
        gather = _gathered(finding.sources, progress)
        changed = key_of(finding.sources, root) != key
        if not (changed and again):
            assemble(gather, built, root)
            changing = (Remark(key="timeline.remark.changed"),) if changed else ()
            return _opened(cache.put(built, key, root), (*finding.remarks, *changing), fresh=True)
    return _read(finding, root, tell, show, again=False)


def _opened(entry: cache.Entry, remarks: tuple[Remark, ...], *, fresh: bool) -> Opened:
    sources = entry.trace.meta.sources
    left_out = [
        Remark(key="timeline.remark.not_read", args={"reason": str(StudioError(one.problem.key, **one.problem.args))})
        for one in sources
        if one.problem
    ]
    cut = [Remark(key="timeline.remark.truncated", args={"place": one.path}) for one in sources if one.truncated]
    tables = [Remark(key="timeline.remark.tables_only")] if all(one.kind == "analysis" for one in sources) else []
    limited = [
        Remark(key="timeline.remark.limited", args={"place": one.path, "mb": one.limit >> 20})
        for one in sources
        if one.limit
    ]
    notes = (*remarks, *left_out, *cut, *limited, *tables)
    return Opened(trace=entry.trace, cache=entry.folder, fresh=fresh, notes=notes, lease=entry.lease)


def _gathered(sources: tuple[Found, ...], progress: _Progress) -> Gather:
    """What can be read of all sources; raises the first one's error where none can be."""
    gather, errors = Gather(), []
    for found in sources:
        try:
            _gather(found, gather, progress)
        except (StudioError, FileNotFoundError, PermissionError) as problem:
            error = problem if isinstance(problem, StudioError) else unreadable(found.path, problem)
            errors.append(error)
            gather.sources[-1].problem = error
        progress.next_source(gather)
    if errors and len(errors) == sum(found.kind != "table" for found in sources):
        raise errors[0]
    return gather


def _gather(found: Found, gather: Gather, progress: _Progress) -> None:
    """Only what this kind needs is imported: it counts where a small profile is opened."""
    source = gather.source(found.path, found.kind, found.rank)

    def tell(done: int, total: int) -> None:
        progress.tell(done, total, gather)

    if found.kind == "text":
        from backends.timeline.text.read import read_text

        before, aside = _shown(gather), gather.set_aside.copy()
        read_text(found.path, source, gather, tell)
        if _shown(gather) == before:
            raise _nothing(found.path, gather.set_aside - aside)
    elif found.kind == "db":
        from backends.timeline.db.read import read_db

        read_db(found.path, source, gather, tell)
    elif found.kind == "analysis":
        from backends.timeline.tables.sheets import check

        check(found.path)
    else:
        from backends.timeline.tables.counters import read_counters

        read_counters(found.path, source, gather)


def _shown(gather: Gather) -> int:
    return gather.events - gather.metadata - sum(gather.set_aside.values())


def _nothing(path: Path, aside: Counter[str]) -> StudioError:
    """`aside`: what there was instead of events, by reason."""
    if not aside:
        return StudioError("timeline.error.no_events", place=str(path))
    reasons = ", ".join(f"{t(reason)}: {count:,}" for reason, count in aside.most_common())
    return StudioError("timeline.error.all_aside", place=str(path), reasons=reasons)


@dataclass(kw_only=True)
class _Progress:
    """Of all sources together, by their sizes. `sizes`: of those that are left."""

    sizes: list[int]
    said: Tell
    first_look: Callable[[Gather, float], None]
    done: int = 0
    begun: float = field(default_factory=time.process_time)

    def tell(self, done: int, total: int, gather: Gather) -> None:
        share = min(1.0, done / total) if total > 0 else 0.0
        whole = max(1, self.done + sum(self.sizes))
        now = self.done + int(share * self.sizes[0]) if self.sizes else self.done
        self.said(now, whole)
        if time.process_time() - self.begun > FIRST_LOOK:
            self.first_look(gather, now / whole)

    def next_source(self, gather: Gather) -> None:
        self.done += self.sizes.pop(0)
        self.tell(0, 1, gather)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _first_look(folder: Path, root: Path, show: Show | None) -> Callable[[Gather, float], None]:
    """Once; and not where the rest takes no longer than the look."""
    left = [show] if show else []

    def look(gather: Gather, share: float) -> None:
        if left and gather.slices:
            shown = left.pop()
            if share < 0.7:
                with suppress(OSError):  # the disk may still do for the whole
                    assemble(gather, folder, root, partial=share)
                    shown(folder)

    return look


@contextmanager
def _told() -> Iterator[None]:
    """Errors of files as sentences: of the cache, which is nearly always the one that is full."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_FOLDER and _is_of_cache(error):
            reason = error.strerror or str(error)
            raise StudioError("timeline.error.no_cache", place=str(error.filename), reason=reason) from error
        raise from_os(error, error.filename or cache_home()) from error


def _is_of_cache(error: OSError) -> bool:
    home = cache_home()
    return isinstance(error.filename, str | os.PathLike) and any(
        one in (home, *home.parents) or home in one.parents for one in [Path(error.filename)]
    )
