"""Opening of a profile: from the cache, or by reading it into the cache. Nothing is written next to the data."""

from __future__ import annotations

import errno
import os
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from backends.timeline.build import cache
from backends.timeline.build.assembly import assemble
from backends.timeline.build.content_key import key_of
from backends.timeline.copies import Copies, Mark
from backends.timeline.gathering import Gathering
from backends.timeline.source_discovery import (
    Discovery,
    Remark,
    SourceFile,
    damaged_tables,
    find,
    unreadable,
)
from backends.timeline.tables.announced_steps import step_coverage
from backends.timeline.tables.capture_settings import damaged_settings
from studio.errors import StudioError, from_os
from studio.gc_pause import gc_paused
from studio.paths import cache_home
from studio.texts import t

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator

    from backends.timeline.build.locks import Lock
    from backends.timeline.tables.announced_steps import StepCoverage
    from backends.timeline.trace import Trace

    ReportProgress = Callable[[int, int], None]
    Show = Callable[[Path], None]

# What the reader leaves out, so that no figure is of the whole profile.
INCOMPLETE = frozenset(
    f"timeline.remark.{name}"
    for name in (
        "changed", "closed_folders", "damaged", "gap", "limited", "not_read", "settings_damaged", "table_cut",
        "table_damaged", "too_many_files", "truncated", "unparsed",
    )
)  # fmt: skip
# Events that are set aside since they are damaged; others are of kinds that have no place in time.
DAMAGED = frozenset(
    f"timeline.aside.{name}"
    for name in (
        "bad_duration", "bad_time", "bad_value", "far", "no_duration", "not_an_event", "row_damaged", "row_figure",
        "row_time", "row_without_task", "table_row", "unreadable",
    )
)  # fmt: skip
NO_FOLDER = (errno.ENOENT, errno.ENOTDIR, errno.EEXIST, errno.EACCES, errno.EPERM, errno.EROFS)
PARTIAL_AFTER = 0.4  # seconds of CPU after which a window is shown what there is


@dataclass(frozen=True, kw_only=True)
class Opened:
    """An open profile. `fresh`: it was read just now. `lease`: keeps the folder in the cache for as long as it is
    referenced."""

    trace: Trace
    cache: Path
    fresh: bool
    coverage: StepCoverage
    notes: tuple[Remark, ...]
    lease: Lock

    @property
    def is_whole(self) -> bool:
        """Tell whether everything that was found was read: else figures are of a part, and the notes say of which."""
        return not any(note.key in INCOMPLETE for note in self.notes)


def open_cached(path: Path) -> Opened | None:
    """Return the profile at once, or None where it must be read first. Raises StudioError where there is no profile."""
    finding, root = find(path), root_of(path)
    with _file_errors_as_sentences():
        entry = cache.entry(key_of(finding.sources, root), root)
    return _opened(entry, _remarks(finding), fresh=False) if entry else None


def read_profile(path: Path, report: ReportProgress, show: Show | None = None) -> Opened:
    """Read a profile, or take it from the cache. `report` takes bytes done and in total, and may raise to cancel: then
    nothing is left behind. `show` takes the folder of a first part, once, if reading takes long; that folder is gone
    when this returns. Raises StudioError."""
    finding, root = find(path), root_of(path)
    with _file_errors_as_sentences(), gc_paused():
        return _read(finding, root, report, show, again=True)


def root_of(path: Path) -> Path:
    """Return the folder that the paths of the sources are relative to."""
    return path if path.is_dir() else path.parent


def _read(finding: Discovery, root: Path, report: ReportProgress, show: Show | None, *, again: bool) -> Opened:
    key = key_of(finding.sources, root)
    with cache.reading(key), cache.unfinished(key, "build") as built, cache.unfinished(key, "partial") as partial:
        if entry := cache.entry(key, root):
            return _opened(entry, _remarks(finding), fresh=False)
        progress = _Progress(
            sizes=[_size(source.path) for source in finding.sources],
            report_bytes=report,
            show_partial=_partial_writer(partial, root, show),
        )
        gather = _gathered(finding.sources, progress)
        changed = key_of(finding.sources, root) != key
        if not (changed and again):
            assemble(gather, built, root)
            changing = (Remark(key="timeline.remark.changed"),) if changed else ()
            return _opened(cache.put(built, key, root), (*_remarks(finding), *changing), fresh=True)
    return _read(finding, root, report, show, again=False)


def _remarks(finding: Discovery) -> tuple[Remark, ...]:
    """Return what is said of the files: tables are no part of the cache's key, so they are looked at each time."""
    settings = {path: None for source in finding.sources for path in damaged_settings(source.folder)}
    remarks = (Remark(key="timeline.remark.settings_damaged", args={"place": str(path)}) for path in settings)
    return *finding.remarks, *damaged_tables(finding.sources), *remarks


def _opened(entry: cache.Entry, remarks: tuple[Remark, ...], *, fresh: bool) -> Opened:
    sources = entry.trace.meta.sources
    left_out = [
        Remark(
            key="timeline.remark.not_read", args={"reason": str(StudioError(source.problem.key, **source.problem.args))}
        )
        for source in sources
        if source.problem
    ]
    cut = [
        Remark(key="timeline.remark.truncated", args={"place": source.path}) for source in sources if source.truncated
    ]
    gaps = [
        Remark(key="timeline.remark.gap", args={"place": source.path, "gap": str(StudioError(gap.key, **gap.args))})
        for source in sources
        for gap in source.gaps
    ]
    coverage = step_coverage(entry.trace)
    gaps += [Remark(key="timeline.remark.gap", args={"place": place, "gap": str(gap)}) for place, gap in coverage.gaps]
    tables = [Remark(key="timeline.remark.tables_only")] if all(source.kind == "analysis" for source in sources) else []
    limited = [
        Remark(key="timeline.remark.limited", args={"place": source.path, "mb": source.limit >> 20})
        for source in sources
        if source.limit
    ]
    damaged = sum(count for reason, count in entry.trace.meta.set_aside.items() if reason in DAMAGED)
    broken = [Remark(key="timeline.remark.damaged", args={"n": damaged})] if damaged else []
    notes = (*remarks, *left_out, *cut, *gaps, *limited, *broken, *tables)
    return Opened(trace=entry.trace, cache=entry.folder, fresh=fresh, coverage=coverage, notes=notes, lease=entry.lease)


def _gathered(sources: tuple[SourceFile, ...], progress: _Progress) -> Gathering:
    """Gather everything readable from all sources; raises the first error where nothing is."""
    gather, errors, copies = Gathering(), [], Copies()
    for source in sources:
        try:
            before = Mark.of(gather)
            _gather(source, gather, progress)
            copies.check(gather, before)
        except (StudioError, FileNotFoundError, PermissionError) as problem:
            error = problem if isinstance(problem, StudioError) else unreadable(source.path, problem)
            errors.append(error)
            gather.sources[-1].problem = error
        progress.next_source(gather)
    if errors and len(errors) == sum(source.kind != "table" for source in sources):
        raise errors[0]
    return gather


def _gather(file: SourceFile, gather: Gathering, progress: _Progress) -> None:
    """Gather one source. Imports are local, since they matter where a small profile is opened."""
    source = gather.source(file.path, file.kind, file.rank)

    def report(done: int, total: int) -> None:
        progress.report(done, total, gather)

    if file.kind == "text":
        from backends.timeline.text.reader import read_text

        before, aside = _event_count(gather), gather.set_aside.copy()
        read_text(file.path, source, gather, report)
        if _event_count(gather) == before:
            raise _nothing(file.path, gather.set_aside - aside)
    elif file.kind == "db":
        from backends.timeline.db.reader import read_db

        read_db(file.path, source, gather, report)
    elif file.kind == "analysis":
        from backends.timeline.tables.sheets import check

        check(file.path)
    else:
        from backends.timeline.tables.memory_counters import read_counter_file

        read_counter_file(file.path, source, gather)


def _event_count(gather: Gathering) -> int:
    return gather.events - gather.metadata - sum(gather.set_aside.values())


def _nothing(path: Path, aside: Counter[str]) -> StudioError:
    """Return the error for a trace without events. `aside`: what it holds instead, by reason."""
    if not aside:
        return StudioError("timeline.error.no_events", place=str(path))
    reasons = ", ".join(f"{t(reason)}: {count:,}" for reason, count in aside.most_common())
    return StudioError("timeline.error.all_aside", place=str(path), reasons=reasons)


@dataclass(kw_only=True)
class _Progress:
    """Progress over all sources, weighted by size. `sizes`: of the remaining ones."""

    sizes: list[int]
    report_bytes: ReportProgress
    show_partial: Callable[[Gathering, float], None]
    done: int = 0
    begun: float = field(default_factory=time.process_time)

    def report(self, done: int, total: int, gather: Gathering) -> None:
        share = min(1.0, done / total) if total > 0 else 0.0
        whole = max(1, self.done + sum(self.sizes))
        now = self.done + int(share * self.sizes[0]) if self.sizes else self.done
        self.report_bytes(now, whole)
        if time.process_time() - self.begun > PARTIAL_AFTER:
            self.show_partial(gather, now / whole)

    def next_source(self, gather: Gathering) -> None:
        self.done += self.sizes.pop(0)
        self.report(0, 1, gather)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _partial_writer(folder: Path, root: Path, show: Show | None) -> Callable[[Gathering, float], None]:
    """Return a function that writes the first part once, and not where the rest takes no longer than that."""
    left = [show] if show else []

    def write_partial(gather: Gathering, share: float) -> None:
        if left and gather.slices:
            announce = left.pop()
            if share < 0.7:
                with suppress(OSError):  # the disk may still do for the whole
                    assemble(gather, folder, root, partial=share)
                    announce(folder)

    return write_partial


@contextmanager
def _file_errors_as_sentences() -> Iterator[None]:
    """Turn OSError into a sentence; nearly always it is the cache's disk that is full."""
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
        path in (home, *home.parents) or home in path.parents for path in [Path(error.filename)]
    )
