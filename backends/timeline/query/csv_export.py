"""Slices and statistics for a spreadsheet: UTF-8 with a byte order mark, and no cell that a spreadsheet would
evaluate."""

from __future__ import annotations

import codecs
import csv
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.query.bounds import all_rows, slices_in
from studio.errors import from_os
from studio.files import written_whole
from studio.output.spreadsheet import safe_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from backends.timeline.query.lane_groups import GroupedStatistics
    from backends.timeline.trace import Trace

SLICE_HEAD = ("Rank", "Process", "Lane", "Name", "Family", "Start(ns)", "Duration(ns)", "Start since origin(ns)")
STATISTICS = (
    "Rank", "Lanes", "Name", "Count", "Total(ns)", "Wall(ns)", "Self(ns)", "Average(ns)", "Min(ns)", "Max(ns)",
)  # fmt: skip
_CHUNK = 1 << 14


def write_slices(trace: Trace, path: Path, begin: int, end: int, rows: Sequence[int] | None = None) -> int:
    """Write all slices that overlap [begin, end), whole, row by row, and return their number. `rows`: of those only.
    Raises StudioError (full disk, no permission); then nothing is left behind, and an old file stays."""
    chosen = all_rows(trace) if rows is None else np.unique(np.array(rows, np.int64))
    low, high = slices_in(trace, chosen, begin, end)
    write_table(path, SLICE_HEAD, _slices(trace, low, high))
    return int((high - low).sum())


def write_statistics(trace: Trace, path: Path, grouped: GroupedStatistics) -> None:
    """Write statistics. Raises as `write_slices` does."""
    write_table(path, STATISTICS, statistics_rows(trace, grouped))


def statistics_rows(trace: Trace, grouped: GroupedStatistics) -> Iterator[tuple[object, ...]]:
    statistics = grouped.statistics
    columns = (
        statistics.count,
        statistics.total,
        statistics.wall,
        statistics.own,
        statistics.mean.round(3),
        statistics.shortest,
        statistics.longest,
    )
    for row, (name, *figures) in enumerate(
        zip(statistics.name.tolist(), *(column.tolist() for column in columns), strict=True)
    ):
        group = grouped.group_of(row)
        yield ("" if group.rank is None else group.rank, group.kind, trace.name_text(name), *figures)


def _slices(trace: Trace, low: NDArray[np.int64], high: NDArray[np.int64]) -> Iterator[tuple[object, ...]]:
    total = np.cumsum(high - low)
    for begin in range(0, int(total[-1]) if len(total) else 0, _CHUNK):
        positions = np.arange(begin, min(begin + _CHUNK, int(total[-1])))
        row = np.searchsorted(total, positions, "right")
        yield from _rows(trace, high[row] - (total[row] - positions))


def _rows(trace: Trace, chosen: NDArray[np.int64]) -> Iterator[tuple[object, ...]]:
    lane_of = trace.row_lane[np.searchsorted(trace.row_begin, chosen, "right") - 1]
    start, duration = trace.start[chosen], trace.end[chosen] - trace.start[chosen]
    for lane, name, begin, length in zip(
        lane_of.tolist(), trace.name[chosen].tolist(), start.tolist(), duration.tolist(), strict=True
    ):
        described = trace.meta.lanes[lane]
        process = trace.meta.processes[described.process]
        rank = "" if process.rank is None else process.rank
        absolute = trace.meta.origin_ns + begin
        text, family = trace.name_text(name), trace.family(name)
        yield rank, process.name, described.name, text, family, absolute, length, begin


def write_table(path: Path, head: Sequence[str], rows: Iterable[tuple[object, ...]]) -> None:
    """Write a table. Raises as `write_slices` does."""
    try:
        with written_whole(path) as file:
            _write_rows(codecs.getwriter("utf-8-sig")(file, "replace"), head, rows)
    except OSError as error:
        raise from_os(error, path) from error


def _write_rows(file: codecs.StreamWriter, head: Sequence[str], rows: Iterable[tuple[object, ...]]) -> None:
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(safe_row(head))
    writer.writerows(map(safe_row, rows))
