"""Coverage of slices, by numpy: by the row below (what a slice calls), or by an earlier slice of the same name.

`statistics_numba` has the same loops compiled; both give identical numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from backends.timeline.query.bounds import first_from
from backends.timeline.query.row_span import window_edges

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from backends.timeline.kinds import LaneKind
    from backends.timeline.query.row_span import RowSpan
    from backends.timeline.trace import Trace

    Numbers = NDArray[np.int64]

CALLS: tuple[LaneKind, ...] = ("host", "api")  # what lies below a slice there is called by it
PERHAPS: LaneKind = "other"  # there as well, where all slices nest
_CHUNK = 1 << 16
_LARGEST = 1 << 62
_by_trace: WeakKeyDictionary[Trace, NDArray[np.bool_]] = WeakKeyDictionary()


def rows_with_calls(trace: Trace) -> NDArray[np.bool_]:
    """bool [rows]: whether the row below belongs to the same lane and holds calls. On first use, each slice of the
    lanes of kind PERHAPS is checked."""
    if trace not in _by_trace:
        _by_trace[trace] = _rows_with_calls(trace)
    return _by_trace[trace]


def _rows_with_calls(trace: Trace) -> NDArray[np.bool_]:
    calls = np.array([lane.kind in CALLS for lane in trace.meta.lanes], bool)
    perhaps = np.array([lane.kind == PERHAPS for lane in trace.meta.lanes], bool)
    has_calls = np.zeros(len(trace.row_lane), bool)
    has_calls[:-1] = (trace.row_lane[1:] == trace.row_lane[:-1]) & (calls | perhaps)[trace.row_lane[:-1]]
    some = np.flatnonzero(has_calls & perhaps[trace.row_lane])
    wild = np.array([row for row in some.tolist() if not _nests(trace, row)], np.int64)
    perhaps[:] = False
    perhaps[trace.row_lane[wild]] = True
    return has_calls & ~perhaps[trace.row_lane]


def _nests(trace: Trace, row: int) -> bool:
    """Return whether each slice of the row below lies inside one of this row; a slice without length covers nothing."""
    low, middle, high = (int(trace.row_begin[row + i]) for i in range(3))
    start, end = trace.start[middle:high], trace.end[middle:high]
    around = low + np.searchsorted(trace.start[low:middle], start, "right") - 1
    return bool(((start == end) | ((around >= low) & (trace.end[np.maximum(around, low)] >= end))).all())


def covered_below(trace: Trace, rows: Numbers, begin: Numbers, end: Numbers) -> Numbers:
    """Return how many ns of each range [begin, end) the row below covers, int64 [slices]. `rows`: the row of each
    slice; 0 where the row below does not hold calls."""
    covered = np.zeros(len(rows), np.int64)
    some = np.flatnonzero(rows_with_calls(trace)[rows])
    low, high = trace.row_begin[rows[some] + 1], trace.row_begin[rows[some] + 2]
    for sign, times in ((-1, begin[some]), (1, end[some])):
        covered[some] += sign * _busy_before(trace, low, first_from(trace.start, low, high, times), times)
    return covered


def _busy_before(trace: Trace, low: Numbers | np.int64, behind: Numbers, times: Numbers) -> Numbers:
    """Return the ns that a row covers before each time, including everything before the row. `behind`: its first slice
    from that time on."""
    last = np.maximum(behind - 1, low)
    not_yet = np.where(behind > low, np.maximum(trace.end[last] - times, 0), 0)
    busy: Numbers = trace.cover[behind] - not_yet
    return busy


def covered_below_all(trace: Trace) -> Numbers:
    """Return `covered_below` of all slices, int64 [slices]."""
    covered = np.zeros(len(trace.start), np.int64)
    for row in np.flatnonzero(rows_with_calls(trace)).tolist():
        own, low, high = (int(trace.row_begin[row + i]) for i in range(3))
        for sign, times in ((-1, trace.start[own:low]), (1, trace.end[own:low])):
            behind = low + np.searchsorted(trace.start[low:high], times)
            covered[own:low] += sign * _busy_before(trace, np.int64(low), behind, times)
    return covered


def covered_until(trace: Trace, span: RowSpan) -> Numbers:
    """Return until when earlier slices of the same name cover each slice's part in the range.

    int64 [slices], filled for slices in the range, in the time of their own row: from the part's start (not covered) to
    its end (fully covered). The union of all parts of a name is therefore the sum of end - until; if the range is the
    whole trace, this also holds for any range within it.
    """
    until = np.empty(len(trace.start), np.int64)
    latest = np.zeros(len(trace.name_family), np.int64)
    edges = window_edges(trace.start, span, _CHUNK)
    length = max(1, _last_end(trace, span) - int(edges[0]) + 1)
    longest = max(1, min(2 * _CHUNK, _LARGEST // length))
    for parts, in_order in _windows(trace, span, edges):
        for begin in range(0, len(in_order), longest):
            positions = in_order[begin : begin + longest]
            key = trace.name[parts.order[positions]]
            by_name = np.argsort(key.astype(np.uint16) if len(latest) <= 1 << 16 else key, kind="stable")
            some = parts.only(positions[by_name])
            until[some.order] = _see(some, key[by_name], latest, length) - some.shift
    return until


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """Parts of slices in a range. `order`: which slices; `start`, `end`: since the first of them, in display time;
    `shift`: what was added to the time of their row, for all or for each."""

    order: Numbers
    start: Numbers
    end: Numbers
    shift: Numbers

    def only(self, which: slice | Numbers) -> _Parts:
        shift = self.shift[which] if self.shift.ndim else self.shift
        return _Parts(order=self.order[which], start=self.start[which], end=self.end[which], shift=shift)


def _last_end(trace: Trace, span: RowSpan) -> int:
    """Return the last end in display time."""
    is_filled = span.low < span.high
    ends = np.minimum(trace.end[span.high[is_filled] - 1], span.end[is_filled]) + span.shift[is_filled]
    return int(ends.max(initial=0))


def _windows(trace: Trace, span: RowSpan, edges: Numbers) -> Iterator[tuple[_Parts, Numbers]]:
    """Yield all parts, some thousands at a time, and their positions in order of start. Rows are already in order:
    cutting them into windows of time and sorting each by its digits takes half the work of sorting all. A million rows
    form a single window."""
    if len(edges) * len(span.rows) > len(trace.start):
        edges = edges[[0, -1]]
    low, first = span.low, int(edges[0])
    for left, right in pairwise(edges.tolist()):
        high = first_from(trace.start, low, span.high, right - span.shift)
        parts = _parts(trace, span, low, high, first)
        yield parts, _by_digits(parts.start - (left - first), right - left)
        low = high


def _parts(trace: Trace, span: RowSpan, low: Numbers, high: Numbers, first: int) -> _Parts:
    order = indexes(low, high)
    if span.is_whole:
        return _Parts(
            order=order, start=trace.start[order] - first, end=trace.end[order] - first, shift=np.array(-first)
        )
    row = np.repeat(np.arange(len(low)), high - low)
    shift = span.shift[row] - first
    start, end = np.maximum(trace.start[order], span.begin[row]), np.minimum(trace.end[order], span.end[row])
    return _Parts(order=order, start=start + shift, end=end + shift, shift=shift)


def _by_digits(since: Numbers, largest: int) -> Numbers:
    """Return positions in ascending order. numpy sorts 16-bit numbers by counting, and stably: the lowest digits go
    first."""
    positions = np.argsort(since.astype(np.uint16), kind="stable")
    for shift in range(16, largest.bit_length(), 16):
        positions = positions[np.argsort((since[positions] >> shift).astype(np.uint16), kind="stable")]
    return positions


def _see(parts: _Parts, key: NDArray[np.int32], latest: Numbers, length: int) -> Numbers:
    """Return until when each part is covered, for parts sorted by name and start. `latest`: the last end of each name
    so far, carried on. Names are lifted apart by `length`, so that a running maximum starts over where the name
    changes."""
    is_first = np.ones(len(key), bool)
    is_first[1:] = key[1:] != key[:-1]
    lift = (np.cumsum(is_first) - 1) * length
    before = np.empty(len(key), np.int64)
    before[1:] = parts.end[:-1]
    before[is_first] = latest[key[is_first]]
    before = np.maximum.accumulate(before + lift) - lift
    np.maximum.at(latest, key, parts.end)
    until: Numbers = np.clip(before, parts.start, parts.end)
    return until


def pieces(low: Numbers, high: Numbers, longest: int) -> Iterator[slice | Numbers]:
    """Yield the slices low to high - 1 of all rows, at most `longest` at a time: as ranges, or as indexes where
    segments are so short (there may be a million lanes) that one at a time would take too long."""
    some = low < high
    low, high = _joined(low[some], high[some])
    long = high - low >= longest // 64
    for first, behind in zip(low[long].tolist(), high[long].tolist(), strict=True):
        for begin in range(first, behind, longest):
            yield slice(begin, min(behind, begin + longest))
    yield from _gathered(low[~long], high[~long], longest)


def _joined(low: Numbers, high: Numbers) -> tuple[Numbers, Numbers]:
    """Join adjacent segments."""
    apart = np.ones(len(low) + 1, bool)
    apart[1:-1] = low[1:] != high[:-1]
    return low[apart[:-1]], high[apart[1:]]


def _gathered(low: Numbers, high: Numbers, longest: int) -> Iterator[Numbers]:
    group = (np.cumsum(high - low) - 1) // longest
    borders = np.flatnonzero(np.diff(group, prepend=-1, append=-1)) if len(group) else group
    for first, behind in pairwise(borders.tolist()):
        yield indexes(low[first:behind], high[first:behind])


def indexes(low: Numbers, high: Numbers) -> Numbers:
    """Return low to high - 1 of each segment, concatenated."""
    counts = high - low
    positions: Numbers = np.arange(counts.sum()) + np.repeat(low - (np.cumsum(counts) - counts), counts)
    return positions
