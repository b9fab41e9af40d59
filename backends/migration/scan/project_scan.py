"""Scan a project from folder to findings: first what its modules export to one another, then each file by itself."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from backends.migration.scan import cache
from backends.migration.scan.cache import CachedFile, ScanCache
from backends.migration.scan.file_scan import FileScan, ScanNote
from backends.migration.scan.file_scanner import (
    FilePreview,
    ScannedFile,
    preview_file,
    scan_file,
    worker_failure_note,
)
from backends.migration.scan.project_files import SourceFile, walk_project
from backends.migration.scan.python.exports import ModuleExports
from backends.migration.scan.recording_exports import RecordingExports
from backends.migration.scan.worker_pool import WorkerPool
from studio.errors import Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from backends.migration.finding import ScanFinding
    from backends.migration.scan.facts.facts import Facts

    Progress = Callable[[int, int, str], object]

BYTES_PER_WORKER = 300_000
"""Bytes of sources that another process pays off for."""


@dataclass(frozen=True, kw_only=True)
class Survey:
    """`scans`: of each file that was read, by path, in order. `rescanned`: how many the cache could not answer."""

    findings: tuple[ScanFinding, ...]
    scans: dict[str, FileScan]
    kinds: dict[str, int]
    notes: tuple[ScanNote, ...]
    seconds: float
    rescanned: int


def scan_project(folder: Path, facts: Facts, progress: Progress | None = None) -> tuple[ScanFinding, ...]:
    """Return the findings, sorted by path, cell, line and column."""
    return survey_project(folder, facts, progress=progress).findings


def survey_project(
    folder: Path,
    facts: Facts,
    *,
    max_workers: int = 0,
    progress: Progress | None = None,
    is_stopped: Callable[[], bool] = bool,
) -> Survey:
    """`max_workers`: processes; 0 scans in this one, which may then have other threads. Files whose cached scan holds
    are not scanned again. Raises Stopped."""
    started, clock = time.time_ns(), time.monotonic()
    entries, notes = _list_files(folder, is_stopped)
    identity = cache.rules_identity(facts.fingerprint)
    scanner = _ProjectScanner(
        entries=entries,
        cached=cache.load_cache(folder, identity),
        max_workers=max_workers,
        progress=progress,
        is_stopped=is_stopped,
    )
    scanner.preview_files()
    scans = scanner.scan_files(facts)
    if scanner.is_changed:
        cache.save_cache(folder, scanner.cache_entries(identity, started))
    notes += [note for scan in scans.values() for note in scan.notes]
    return Survey(
        findings=tuple(entry for path in sorted(scans) for entry in scans[path].findings),
        scans=scans,
        kinds=dict(Counter(entry.kind for entry in entries)),
        notes=tuple(sorted(notes, key=lambda note: (note.path, note.line))),
        seconds=time.monotonic() - clock,
        rescanned=len(scanner.rescanned),
    )


def _list_files(folder: Path, is_stopped: Callable[[], bool]) -> tuple[list[SourceFile], list[ScanNote]]:
    entries, notes = [], []
    for file in walk_project(folder):
        if is_stopped():
            raise Stopped
        if isinstance(file, SourceFile):
            entries.append(file)
        else:
            notes.append(ScanNote(path=file.path, key=file.key, args=file.args))
    return entries, notes


@dataclass(kw_only=True)
class _ProjectScanner:
    """One scan under way."""

    entries: list[SourceFile]
    cached: ScanCache
    max_workers: int
    progress: Progress | None
    is_stopped: Callable[[], bool]
    previews: dict[str, FilePreview] = field(default_factory=dict)
    rescanned: dict[str, ScannedFile] = field(default_factory=dict)
    done: int = 0

    @property
    def is_changed(self) -> bool:
        return bool(self.previews or self.rescanned) or len(self.entries) != len(self.cached.files)

    def preview_files(self) -> None:
        """Preview the files that may have changed: the digest of each, and what it exports to other modules."""
        new = [entry for entry in self.entries if self.cached.unchanged_file(entry.path, entry.stamp) is None]
        self.total = len(new) + len(self.entries)
        for entry, answer in self._report_each(new, lambda entry: msgspec.msgpack.encode(preview_file(entry)), "look"):
            self.previews[entry.path] = (
                msgspec.msgpack.decode(answer, type=FilePreview)
                if isinstance(answer, bytes)
                else FilePreview(problem=worker_failure_note(entry, answer))
            )
        self.exports = RecordingExports(
            {each.path: self._exported(each) for each in self.entries if each.kind == "python"}
        )
        self.digest = self.exports.digest

    def _exported(self, entry: SourceFile) -> ModuleExports:
        if entry.path in self.previews:
            return self.previews[entry.path].exported
        return msgspec.msgpack.decode(self.cached.files[entry.path].exported, type=ModuleExports)

    def scan_files(self, facts: Facts) -> dict[str, FileScan]:
        scans = {entry.path: self._cached_scan(entry) for entry in self.entries}
        missing = [entry for entry in self.entries if scans[entry.path] is None]
        self.done += len(self.entries) - len(missing)
        for entry, answer in self._report_each(missing, lambda entry: scan_file(entry, self.exports, facts), "scan"):
            self.rescanned[entry.path] = (
                msgspec.msgpack.decode(answer, type=ScannedFile)
                if isinstance(answer, bytes)
                else ScannedFile(scan=FileScan(notes=(worker_failure_note(entry, answer),)))
            )
            scans[entry.path] = self.rescanned[entry.path].scan
        return {path: scan for path, scan in scans.items() if scan is not None}

    def _cached_scan(self, entry: SourceFile) -> FileScan | None:
        """Return the scan of this file by an earlier scan, where it still holds."""
        preview = self.previews.get(entry.path)
        if preview and preview.problem:
            return FileScan(notes=(preview.problem,))
        cached = self.cached.files.get(entry.path)
        if cached is None or (preview and preview.digest != cached.digest) or not self._has_same_answers(entry, cached):
            return None
        return msgspec.msgpack.decode(cached.scan, type=FileScan)

    def _has_same_answers(self, entry: SourceFile, cached: CachedFile) -> bool:
        if self.digest == self.cached.exports:
            return True
        if self.exports.shared_answers != self.cached.shared_answers:
            return False
        questions = msgspec.msgpack.decode(cached.questions, type=dict[str, str])
        return self.exports.has_same_answers(entry.path, questions, cached.texts)

    def _report_each(
        self, entries: list[SourceFile], work: Callable[[SourceFile], bytes], phase: str
    ) -> Iterator[tuple[SourceFile, bytes | str]]:
        for entry, answer in self._run_workers(entries, work):
            yield entry, answer
            self.done += 1
            if self.progress:
                self.progress(self.done, self.total, phase)
            self._raise_if_stopped()

    def _raise_if_stopped(self) -> None:
        if self.is_stopped():
            raise Stopped

    def _run_workers(
        self, entries: list[SourceFile], work: Callable[[SourceFile], bytes]
    ) -> Iterator[tuple[SourceFile, bytes | str]]:
        workers = min(self.max_workers, 1 + sum(entry.size for entry in entries) // BYTES_PER_WORKER)
        if not workers:
            yield from ((entry, work(entry)) for entry in entries)
            return
        with WorkerPool(lambda index: work(entries[index]), workers, self._raise_if_stopped) as pool:
            largest_first = sorted(range(len(entries)), key=lambda index: -entries[index].size)
            yield from ((entries[index], answer) for index, answer in pool.run(largest_first))

    def cache_entries(self, identity: str, started: int) -> ScanCache:
        files = {entry.path: cached for entry in self.entries if (cached := self._cache_entry(entry)) is not None}
        return ScanCache(
            identity=identity,
            started=started,
            exports=self.digest,
            shared_answers=self.exports.shared_answers,
            files=files,
        )

    def _cache_entry(self, entry: SourceFile) -> CachedFile | None:
        """None for a file that could not be read: it is tried again."""
        cached, preview, rescanned = (
            self.cached.files.get(entry.path),
            self.previews.get(entry.path),
            self.rescanned.get(entry.path),
        )
        if (preview and preview.problem) or (rescanned and not rescanned.digest):
            return None
        if rescanned is None:
            return cached and msgspec.structs.replace(cached, stamp=entry.stamp)
        return CachedFile(
            stamp=entry.stamp,
            digest=rescanned.digest,
            exported=_encoded(preview.exported)
            if preview
            else cached.exported
            if cached
            else _encoded(ModuleExports()),
            questions=_encoded(rescanned.questions),
            texts=rescanned.texts,
            scan=_encoded(rescanned.scan),
        )


def _encoded(value: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.msgpack.encode(value))
