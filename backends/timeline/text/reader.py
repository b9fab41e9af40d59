"""Reading of a trace in JSON: torch_npu, MindSpore, msprof, Kineto and whatever else Chrome's format describes.

https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU (Trace Event Format).
"""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.text.begin_end_pairs import Half, Pairs
from backends.timeline.text.byte_stream import open_stream
from backends.timeline.text.counters import MEMORY_EVENT, Counters, take_memory
from backends.timeline.text.event_batch import Batch, EventSelection, Literals
from backends.timeline.text.event_classes import (
    ASIDE,
    COUNTER,
    DONE,
    FLOW,
    INSTANT,
    METADATA,
    PAIR,
    SLICE,
    Classes,
)
from backends.timeline.text.flows import NO_ID, Flows, id_of
from backends.timeline.text.lanes import Lanes
from backends.timeline.text.pieces import PIECE, TracePieces
from backends.timeline.text.steps import Steps
from backends.timeline.text.time_correction import ZERO_TIME, Added
from backends.timeline.text.timestamps import LAST, NEVER, durations_of, parse_times
from studio.errors import StudioError
from studio.gc_pause import gc_paused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from backends.timeline.gathering import Gathering
    from backends.timeline.text.event import Event
    from backends.timeline.text.pieces import Piece


REPORT_EVERY = 16  # pieces


def read_text(
    path: Path, source: int, gather: Gathering, report: Callable[[int, int], None], piece: int = PIECE
) -> None:
    """Add all events of a file to `gather`, as of source `source`. `report`: takes bytes done and total; if it raises,
    reading ends. `piece`: bytes to read at once. Raises OSError."""
    with open_stream(path) as stream, gc_paused():
        pieces = TracePieces(stream, piece)
        columns = EventColumns(gather, source)
        for number, each in zip(count(1), pieces):
            columns.take(each, pieces.base_ns)
            if number % REPORT_EVERY == 0:
                report(stream.done, stream.size)
        columns.finish(pieces.base_ns, pieces.late_base_ns)
        gather.sources[source].truncated = pieces.truncated
        gather.sources[source].is_kineto = bool(pieces.base_ns or pieces.late_base_ns)
        if pieces.arrays > 1:
            gather.sources[source].gaps += (StudioError("timeline.gap.arrays", n=pieces.arrays),)
        if pieces.foreign:
            gather.sources[source].gaps += (StudioError("timeline.gap.foreign_bytes", n=pieces.foreign),)
        gather.sources[source].limit = stream.limit
        report(stream.size, stream.size)


BAD_TIME = "timeline.aside.bad_time"
BAD_DURATION = "timeline.aside.bad_duration"
NO_DURATION = "timeline.aside.no_duration"
THREAD_PAIRS, OPENING = "BE", "BbS"
EPOCH_NS = 10**17  # ns; a trace with times behind it counts from 1970
DAY_NS = 86_400 * 10**9  # ns; a time of 0 that all others are further from was lost


class EventColumns:
    """Columns of one source. Call `take` for all pieces in file order, then `finish`."""

    def __init__(self, gather: Gathering, source: int) -> None:
        self._gather = gather
        self._source = gather.sources[source]
        self._lanes = Lanes(gather, source)
        self._classes = Classes(self._lanes)
        self._counters = Counters(gather, source, self._lanes, self._classes)
        self._flows = Flows(gather)
        self._steps = Steps(gather, source)
        self._pairs = Pairs()
        self._batch = Batch(self._classes)
        self._added = Added(gather, source)
        self._is_epoch = False
        self._base_ns = 0  # added to the times that were read
        self._nearest = LAST  # the least time but 0, without the base
        self._zero_slices = 0
        self._first = 0  # number of the first event of the batch
        self._literals = Literals(())
        self._by_code = {
            ASIDE: self._aside,
            SLICE: self._slices,
            COUNTER: self._samples,
            FLOW: self._ends,
            INSTANT: self._instants,
            PAIR: self._halves,
            METADATA: self._metadata,
        }

    def take(self, piece: Piece, base_ns: int) -> None:
        """Add all events of a piece, in `finish` at the latest; `base_ns` is added to their times."""
        self._source.chunks.append((piece.begin, piece.end, self._first + len(self._batch.events)))
        self._batch.add(piece)
        if self._batch.is_full:
            self._take_batch(base_ns)

    def finish(self, base_ns: int, late_base_ns: int) -> None:
        """Add the remaining events, and what only all events together can tell; `late_base_ns` is added to all
        times."""
        self._take_batch(base_ns)
        if self._is_epoch or self._nearest > DAY_NS:
            self._zero_slices += self._added.set_zeros_aside(self._base_ns)
            self._zero_halves()
        if self._zero_slices:
            self._source.gaps += (StudioError("timeline.gap.zero_times", n=self._zero_slices),)
        self._pairs.match(self._gather)
        if late_base_ns:
            self._added.shift(late_base_ns)

    def _take_batch(self, base_ns: int) -> None:
        batch, self._batch = self._batch, Batch(self._classes)
        if not batch.events:
            return
        self._gather.events += len(batch.events)
        self._literals = batch.literals()
        part = self._timed(batch, base_ns)
        for code in np.flatnonzero(np.bincount(part.codes, minlength=DONE)[:DONE]).tolist():
            self._by_code[code](part.only(code))
        self._first += len(batch.events)

    def _timed(self, batch: Batch, base_ns: int) -> EventSelection:
        """Return all events with their times; those without a time are marked as done."""
        classes = batch.classes()
        codes = self._classes.codes[classes]
        times = parse_times(batch.times)
        needs_time = (codes != METADATA) & (codes != ASIDE)
        zero = needs_time & (times == 0)
        written, times = times, np.where(times == NEVER, NEVER, times + base_ns)
        bad = needs_time & ((times < 0) | (times > LAST))
        is_timed = needs_time & ~bad & ~zero
        self._nearest = min(self._nearest, int(written[is_timed].min(initial=LAST)))
        self._is_epoch = self._is_epoch or bool((written[is_timed] > EPOCH_NS).any())
        self._base_ns = base_ns
        self._set_aside(codes, bad, BAD_TIME)
        if zero.any():
            self._treat_zeros(codes, zero)
        return EventSelection(batch.events, classes, codes, times, np.arange(len(codes)))

    def _treat_zeros(self, codes: NDArray[np.uint8], zero: NDArray[np.bool_]) -> None:
        if self._is_epoch:
            self._zero_slices += int((zero & (codes == SLICE)).sum())
            self._set_aside(codes, zero, ZERO_TIME)
        self._added.any_zero = not self._is_epoch or self._added.any_zero

    def _set_aside(self, codes: NDArray[np.uint8], which: NDArray[np.bool_], reason: str) -> None:
        if count := int(which.sum()):
            self._gather.set_aside[reason] += count
            codes[which] = DONE

    def _aside(self, part: EventSelection) -> None:
        self._gather.set_aside.update(Counter(event.cat or "" for event in part.events))

    def _metadata(self, part: EventSelection) -> None:
        self._gather.metadata += len(part.events)
        self._lanes.take(part.events)

    def _slices(self, part: EventSelection) -> None:
        literal = self._literals.duration
        durations = durations_of([event.dur for event in part.events], lambda at: literal(int(part.places[at])))
        ends = part.times + durations
        good = (durations >= 0) & (ends <= LAST)
        if not good.all():
            missing = Counter({NO_DURATION: sum(event.dur is None for event in part.events)})
            self._gather.set_aside += missing + Counter({BAD_DURATION: int((~good).sum()) - missing.total()})
            part, ends = part.where(good), ends[good]
        if part.events:
            slices = (self._lane(part), part.times, ends, self._name(part.events), part.places + self._first)
            self._gather.slices.append(slices)  # type: ignore[arg-type]
            self._steps.take(slices, part.events)  # type: ignore[arg-type]

    def _instants(self, part: EventSelection) -> None:
        instants = (self._lane(part), part.times, self._name(part.events), part.places + self._first)
        self._gather.instants.append(instants)  # type: ignore[arg-type]
        timed = zip(part.events, part.times.tolist(), strict=True)
        take_memory(
            self._gather, self._counters, [(event, time) for event, time in timed if event.name == MEMORY_EVENT]
        )

    def _samples(self, part: EventSelection) -> None:
        has_samples = self._counters.take(part.events, part.classes, part.times)
        self._gather.counter_events += int(has_samples.sum())
        self._added.zero_counters += int((part.times[has_samples] == self._base_ns).sum())

    def _ends(self, part: EventSelection) -> None:
        self._flows.take(part.events, self._lane(part), part.times, self._classes.phases[part.classes])

    def _halves(self, part: EventSelection) -> None:
        rows = zip(part.events, self._lane(part).tolist(), part.times.tolist(), part.places.tolist(), strict=True)
        for event, lane, time, position in rows:
            self._half(event, lane, time, position + self._first)

    def _half(self, event: Event, lane: int, time: int, number: int) -> None:
        key = 0 if event.ph in THREAD_PAIRS else id_of(event)
        if key is None:
            self._gather.set_aside[NO_ID] += 1
            return
        half = Half((lane, event.ph in "SF", key), lane, time, event.ph in OPENING, event.name or "", number)
        self._pairs.halves.append(half)

    def _zero_halves(self) -> None:
        halves = [half for half in self._pairs.halves if half.time != self._base_ns]
        if count := len(self._pairs.halves) - len(halves):
            self._gather.set_aside[ZERO_TIME] += count
            self._pairs.halves = halves

    def _lane(self, part: EventSelection) -> NDArray[np.int32]:
        lanes: NDArray[np.int32] = self._classes.lanes[part.classes]
        return lanes

    def _name(self, events: Sequence[Event]) -> NDArray[np.int32]:
        names = self._gather.names.__getitem__
        return np.fromiter(map(names, [event.name or "" for event in events]), np.int32, len(events))
