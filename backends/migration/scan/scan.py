"""A project from folder to findings: what its modules tell one another first, then each file by itself."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from backends.migration.scan import cache
from backends.migration.scan.cache import Kept, Pack
from backends.migration.scan.crew import Crew
from backends.migration.scan.one import Looked, Read, failed, look, read
from backends.migration.scan.python.exports import Exported
from backends.migration.scan.reading import Note, Reading
from backends.migration.scan.told import Asked
from backends.migration.scan.walk import Entry, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from backends.migration.found import Found
    from backends.migration.scan.facts.facts import Facts

    Progress = Callable[[int, int, str], object]

WORTH_A_HAND = 300_000
"""Bytes of sources that another process pays off for."""


class Stopped(Exception):
    """Somebody asked to stop; nothing was written."""


@dataclass(frozen=True, kw_only=True)
class Survey:
    """`readings`: of each file that was read, by path, in order. `again`: how many of them had to be read anew."""

    found: tuple[Found, ...]
    readings: dict[str, Reading]
    kinds: dict[str, int]
    notes: tuple[Note, ...]
    seconds: float
    again: int


def scan(folder: Path, facts: Facts, progress: Progress | None = None) -> tuple[Found, ...]:
    """The findings, by path, cell, line and column."""
    return survey(folder, facts, progress=progress).found


def survey(
    folder: Path,
    facts: Facts,
    *,
    hands: int = 0,
    progress: Progress | None = None,
    stopped: Callable[[], bool] = bool,
) -> Survey:
    """`hands`: processes at most; 0 reads in this one, which may then have other threads. Files whose reading is kept
    are not read again. Raises Stopped."""
    begun, clock = time.time_ns(), time.monotonic()
    entries, notes = _listed(folder, stopped)
    wanted = cache.identity(facts.fingerprint)
    work = _Work(entries=entries, pack=cache.load(folder, wanted), hands=hands, progress=progress, stopped=stopped)
    work.look()
    readings = work.read(facts)
    if work.changed:
        cache.save(folder, work.packed(wanted, begun))
    notes += [note for reading in readings.values() for note in reading.notes]
    return Survey(
        found=tuple(one for path in sorted(readings) for one in readings[path].found),
        readings=readings,
        kinds=dict(Counter(one.kind for one in entries)),
        notes=tuple(sorted(notes, key=lambda note: (note.path, note.line))),
        seconds=time.monotonic() - clock,
        again=len(work.fresh),
    )


def _listed(folder: Path, stopped: Callable[[], bool]) -> tuple[list[Entry], list[Note]]:
    entries, notes = [], []
    for one in walk(folder):
        if stopped():
            raise Stopped
        if isinstance(one, Entry):
            entries.append(one)
        else:
            notes.append(Note(path=one.path, key=one.key, args=one.args))
    return entries, notes


@dataclass(kw_only=True)
class _Work:
    """One scan under way."""

    entries: list[Entry]
    pack: Pack
    hands: int
    progress: Progress | None
    stopped: Callable[[], bool]
    looked: dict[str, Looked] = field(default_factory=dict)
    fresh: dict[str, Read] = field(default_factory=dict)
    done: int = 0

    @property
    def changed(self) -> bool:
        return bool(self.looked or self.fresh) or len(self.entries) != len(self.pack.files)

    def look(self) -> None:
        """What is in the files that may have changed: a digest of each, and what it tells other modules."""
        new = [entry for entry in self.entries if self.pack.same(entry.path, entry.stamp) is None]
        self.total = len(new) + len(self.entries)
        for entry, answer in self._each(new, lambda entry: msgspec.msgpack.encode(look(entry)), "look"):
            self.looked[entry.path] = (
                msgspec.msgpack.decode(answer, type=Looked)
                if isinstance(answer, bytes)
                else Looked(problem=failed(entry, answer))
            )
        self.exports = Asked({one.path: self._exported(one) for one in self.entries if one.kind == "python"})
        self.digest = self.exports.digest

    def _exported(self, entry: Entry) -> Exported:
        if entry.path in self.looked:
            return self.looked[entry.path].exported
        return msgspec.msgpack.decode(self.pack.files[entry.path].exported, type=Exported)

    def read(self, facts: Facts) -> dict[str, Reading]:
        readings = {entry.path: self._kept(entry) for entry in self.entries}
        missing = [entry for entry in self.entries if readings[entry.path] is None]
        self.done += len(self.entries) - len(missing)
        for entry, answer in self._each(missing, lambda entry: read(entry, self.exports, facts), "scan"):
            self.fresh[entry.path] = (
                msgspec.msgpack.decode(answer, type=Read)
                if isinstance(answer, bytes)
                else Read(reading=Reading(notes=(failed(entry, answer),)))
            )
            readings[entry.path] = self.fresh[entry.path].reading
        return {path: reading for path, reading in readings.items() if reading is not None}

    def _kept(self, entry: Entry) -> Reading | None:
        """The reading of an earlier scan, where it still holds."""
        looked = self.looked.get(entry.path)
        if looked and looked.problem:
            return Reading(notes=(looked.problem,))
        kept = self.pack.files.get(entry.path)
        if kept is None or (looked and looked.digest != kept.digest) or not self._told_the_same(entry, kept):
            return None
        return msgspec.msgpack.decode(kept.reading, type=Reading)

    def _told_the_same(self, entry: Entry, kept: Kept) -> bool:
        if self.digest == self.pack.exports:
            return True
        if self.exports.everywhere != self.pack.everywhere:
            return False
        questions = msgspec.msgpack.decode(kept.questions, type=dict[str, str])
        return self.exports.would_say(entry.path, questions, kept.texts)

    def _each(
        self, entries: list[Entry], work: Callable[[Entry], bytes], phase: str
    ) -> Iterator[tuple[Entry, bytes | str]]:
        for entry, answer in self._answers(entries, work):
            yield entry, answer
            self.done += 1
            if self.progress:
                self.progress(self.done, self.total, phase)
            self._tick()

    def _tick(self) -> None:
        if self.stopped():
            raise Stopped

    def _answers(self, entries: list[Entry], work: Callable[[Entry], bytes]) -> Iterator[tuple[Entry, bytes | str]]:
        hands = min(self.hands, 1 + sum(entry.size for entry in entries) // WORTH_A_HAND)
        if not hands:
            yield from ((entry, work(entry)) for entry in entries)
            return
        with Crew(lambda index: work(entries[index]), hands, self._tick) as crew:
            largest_first = sorted(range(len(entries)), key=lambda index: -entries[index].size)
            yield from ((entries[index], answer) for index, answer in crew.answers(largest_first))

    def packed(self, identity: str, begun: int) -> Pack:
        files = {entry.path: kept for entry in self.entries if (kept := self._packed(entry)) is not None}
        return Pack(
            identity=identity, begun=begun, exports=self.digest, everywhere=self.exports.everywhere, files=files
        )

    def _packed(self, entry: Entry) -> Kept | None:
        """None for a file that could not be read: it is tried again."""
        kept, looked, fresh = self.pack.files.get(entry.path), self.looked.get(entry.path), self.fresh.get(entry.path)
        if (looked and looked.problem) or (fresh and not fresh.digest):
            return None
        if fresh is None:
            return kept and msgspec.structs.replace(kept, stamp=entry.stamp)
        return Kept(
            stamp=entry.stamp,
            digest=fresh.digest,
            exported=_raw(looked.exported) if looked else kept.exported if kept else _raw(Exported()),
            questions=_raw(fresh.questions),
            texts=fresh.texts,
            reading=_raw(fresh.reading),
        )


def _raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.msgpack.encode(value))
