"""Assembly of what the readers gathered: events are sorted, laid out in rows, matched, and written column by column."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from backends.timeline.build.columns import take_columns, write_column
from backends.timeline.build.flows import write_arrows
from backends.timeline.build.lanes import NO_TID, PYTHON_MARK, Order, displayable, order_of
from backends.timeline.build.name_table import kind_of_lane, write_names
from backends.timeline.build.ordering import in_rows
from backends.timeline.build.repeats import is_repeat, repeated_sources
from backends.timeline.build.series import write_series
from backends.timeline.build.source_gaps import note_gaps
from backends.timeline.build.time_span import EARLIEST_EPOCH, plausible_span
from backends.timeline.trace import FORMAT, META, Lane, Meta, Problem, Source, Step

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from backends.timeline.gathering import Gathering
    from studio.errors import StudioError

    Numbers = NDArray[np.int64]
    Columns = list[NDArray[Any]]

FAR, REPEAT = "timeline.aside.far", "timeline.aside.repeat"
I32, I64 = np.int32, np.int64


def assemble(gather: Gathering, folder: Path, root: Path, partial: float | None = None) -> Meta:
    """Write the columns of a profile into a folder, `meta.json` last. The gathered chunks are released on the way,
    unless `partial` says which share of the profile (0 to 1) they are. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    meta = _Assembling(gather, folder, root, partial).meta()
    with (folder / META).open("wb") as file:
        file.write(msgspec.json.encode(meta))
        file.flush()
        os.fsync(file.fileno())
    return meta


@dataclass
class _Assembling:
    gather: Gathering
    folder: Path
    root: Path
    partial: float | None
    far: int = 0
    far_counters: int = 0
    far_rows: int = 0
    repeats: int = 0
    repeated_counters: int = 0
    first: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)

    def meta(self) -> Meta:
        gather = self.gather
        slices = self._columns_of("slices", (I32, I64, I64, I32, I64))
        instants = self._columns_of("instants", (I32, I64, I32, I64))
        ends = self._columns_of("ends", (I32, I64, I64, I32, np.uint8))
        samples = self._columns_of("samples", (I32, I64, np.float64))
        self.span = plausible_span([slices[1], slices[2], instants[1], ends[1], samples[1]])
        slices, instants, ends = self._within(slices, 1, 2), self._within(instants, 1, 1), self._within(ends, 1, 1)
        samples = self._samples(samples)
        slices, instants, ends, samples = self._once(slices, instants, ends, samples)
        counts = len(slices[0]), len(instants[0]), len(ends[0])
        all_slices = _together(slices, instants)
        del slices, instants
        origin, last = min(self.first, default=0), max(self.last, default=0)
        used_lanes = _used(len(gather.lanes), all_slices[0], ends[0])
        order = order_of(gather, used_lanes, _used(len(gather.series), samples[0]))
        if self.partial is None:
            note_gaps(gather, order, all_slices, ends)
        for columns in (all_slices, ends, samples):
            columns[1] -= origin
        all_slices[2] -= origin
        series = write_series(self.folder, gather, order, samples)
        arrows, flows, dangling = write_arrows(self.folder, order.lane_at[ends[0]], *ends[1:])
        ends.clear()
        lanes = self._slices(order, all_slices)
        self._chunks()
        aside = {**gather.set_aside, **({FAR: self.far + gather.set_aside[FAR]} if self.far else {})}
        aside |= {REPEAT: self.repeats} if self.repeats else {}
        return Meta(
            format=FORMAT,
            origin_ns=origin,
            last_ns=last,
            is_epoch=origin > EARLIEST_EPOCH,
            sources=tuple(self._source(number) for number in range(len(gather.sources))),
            processes=order.processes,
            lanes=lanes,
            series=series,
            steps=self._steps(origin),
            flow_kinds=tuple(displayable(kind) for kind in gather.flow_kinds),
            events=gather.events + self.far_rows,
            slices=counts[0],
            instants=counts[1],
            flows=flows,
            arrows=arrows,
            flow_ends=counts[2],
            dangling=dangling,
            counters=gather.counter_events - self.far_counters - self.repeated_counters,
            metadata=gather.metadata,
            set_aside=aside,
            partial=self.partial,
        )

    def _columns_of(self, what: str, dtypes: tuple[Any, ...]) -> list[NDArray[Any]]:
        return take_columns(getattr(self.gather, what), dtypes, keep=self.partial is not None)

    def _within(self, columns: list[NDArray[Any]], begin: int, end: int) -> list[NDArray[Any]]:
        """Drop events that are implausibly far away in time, and note the extent of the others."""
        fits = self.span.holds(columns[begin], columns[end])
        if not fits.all():
            self.far += int(np.count_nonzero(~fits))
            columns = [column[fits] for column in columns]
        self._note(columns[begin], columns[end])
        return columns

    def _samples(self, columns: list[NDArray[Any]]) -> list[NDArray[Any]]:
        """Drop samples that are too far away in time, and count them. Tables next to a trace cover more time than it
        does, so they do not define its extent. Distant samples of one process and time count as one event; a row of a
        table is an event only where it is set aside."""
        series = self.gather.series
        fits = self.span.holds(columns[1], columns[1])
        is_companion = np.array([self.gather.sources[counted.source].kind == "table" for counted in series], bool)
        if not fits.all():
            process = np.array([counted.process for counted in series], I64)[columns[0][~fits]]
            of_table = is_companion[columns[0][~fits]]
            self.far_counters = _count_distinct(process[~of_table], columns[1][~fits][~of_table])
            self.far_rows = _count_distinct(process[of_table], columns[1][~fits][of_table])
            self.far += self.far_counters + self.far_rows
            columns = [column[fits] for column in columns]
        self._note(columns[1][~is_companion[columns[0]]])
        if not self.first:
            self._note(columns[1])
        return columns

    def _once(self, slices: Columns, instants: Columns, ends: Columns, samples: Columns) -> tuple[Columns, ...]:
        """Drop what stands twice in a text, and count it."""
        sources = repeated_sources(self.gather, slices) if self.partial is None else frozenset()
        if not sources:
            return slices, instants, ends, samples
        is_of = np.isin([lane.source for lane in self.gather.lanes], list(sources))
        unique: list[Columns] = []
        for columns, width in ((slices, 4), (instants, 3), (ends, 5)):
            repeat = is_of[columns[0]] & is_repeat(columns[:width])
            self.repeats += int(np.count_nonzero(repeat))
            unique.append([column[~repeat] for column in columns])
        series = self.gather.series
        repeat = np.isin([each.source for each in series], list(sources))[samples[0]] & is_repeat(samples)
        process = np.array([each.process for each in series], I64)[samples[0][repeat]]
        self.repeated_counters = _count_distinct(process, samples[1][repeat])
        self.repeats += self.repeated_counters
        return *unique, [column[~repeat] for column in samples]

    def _note(self, *times: Numbers) -> None:
        """Extend the time range that is shown."""
        if len(times[0]):
            self.first.append(int(times[0].min()))
            self.last.append(int(times[-1].max()))

    def _slices(self, order: Order, columns: list[NDArray[Any]]) -> tuple[Lane, ...]:
        lane, start, end, name, event = columns
        columns.clear()
        lane = order.lane_at[lane]
        name = write_names(self.folder, list(self.gather.names), lane, name, kind_of_lane(order))
        by_start, rows, first_row, row = in_rows(lane, start, end, len(order.lanes))
        counts = np.bincount(lane, minlength=len(order.lanes)).tolist()
        del lane
        start, end = start[by_start], end[by_start]
        write_column(self.folder, "start", start)
        write_column(self.folder, "end", end)
        np.subtract(end, start, out=end)
        write_column(self.folder, "cover", np.concatenate([np.zeros(1, I64), np.cumsum(end)]))
        del start, end
        write_column(self.folder, "name", name[by_start])
        write_column(self.folder, "event", event[by_start])
        row_begin = np.concatenate([np.zeros(1, I64), np.cumsum(np.bincount(row, minlength=int(rows.sum())))])
        write_column(self.folder, "row_begin", row_begin)
        write_column(self.folder, "row_lane", np.repeat(np.arange(len(rows), dtype=I32), rows))
        return tuple(
            self._lane(order, number, *of_lane)
            for number, *of_lane in zip(order.lanes, first_row.tolist(), rows.tolist(), counts, strict=True)
        )

    def _lane(self, order: Order, number: int, first_row: int, rows: int, slices: int) -> Lane:
        lane = self.gather.lanes[number]
        return Lane(
            process=order.process_at[lane.process], tid=displayable(lane.tid),
            name=displayable(lane.name or lane.tid.partition(PYTHON_MARK)[0] or NO_TID), kind=order.kinds[number],
            first_row=first_row, rows=rows, slices=slices, table=lane.table,
        )  # fmt: skip

    def _steps(self, origin: int) -> tuple[Step, ...]:
        gather, span = self.gather, self.span
        steps = {
            (start - origin, end - origin, number, source)
            for number, start, end, source in gather.steps
            if span.low <= start <= end <= span.high
        }
        return tuple(
            Step(number=number, start=start, end=end, rank=gather.sources[source].rank, source=source)
            for start, end, number, source in sorted(steps)
        )

    def _source(self, number: int) -> Source:
        source = self.gather.sources[number]
        path = os.path.relpath(source.path, self.root)
        return Source(
            path=displayable(path), kind=source.kind, rank=source.rank, truncated=source.truncated, limit=source.limit,
            problem=_problem(source.problem) if source.problem else None,
            gaps=tuple(_problem(gap) for gap in source.gaps), has_end=source.is_kineto,
        )  # fmt: skip

    def _chunks(self) -> None:
        for number, source in enumerate(self.gather.sources):
            if source.chunks:
                write_column(self.folder, f"chunks_{number}", np.array(source.chunks, I64))


def _problem(error: StudioError) -> Problem:
    args = {name: value if isinstance(value, int) else str(value) for name, value in error.values.items()}
    return Problem(key=error.key, args=args)


def _together(slices: list[NDArray[Any]], instants: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Append instants to the slices, as slices without length."""
    lane, time, name, event = instants
    together = []
    for number, column in enumerate((lane, time, time, name, event)):
        together.append(np.concatenate([slices[number], column]) if len(lane) else slices[number])
        slices[number] = together[-1]
    return together


def _count_distinct(process: Numbers, time: Numbers) -> int:
    return len(np.unique(np.stack([process, time]), axis=1).T)


def _used(count: int, *columns: NDArray[Any]) -> NDArray[np.bool_]:
    used = np.zeros(count, bool)
    for column in columns:
        used[column] = True
    return used
