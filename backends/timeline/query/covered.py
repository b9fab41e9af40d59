"""What of a slice is covered: by the row below it (what it calls), or by an earlier slice of its own name."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from backends.timeline.query.bounds import first_from
from backends.timeline.query.span import window_edges

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from backends.timeline.kinds import LaneKind
    from backends.timeline.query.span import Span
    from backends.timeline.trace import Trace

    Numbers = NDArray[np.int64]

CALLS: tuple[LaneKind, ...] = ("host", "api")  # what lies below a slice there is called by it
PERHAPS: LaneKind = "other"  # there as well, where all slices nest
_CHUNK = 1 << 16
_LARGEST = 1 << 62
_known: WeakKeyDictionary[Trace, NDArray[np.bool_]] = WeakKeyDictionary()


def rows_with_calls(trace: Trace) -> NDArray[np.bool_]:
    """bool [rows]: where the row below belongs to the same lane, and that lane is one of calls. The first time each
    slice of the lanes PERHAPS is looked at."""
    if trace not in _known:
        _known[trace] = _rows_with_calls(trace)
    return _known[trace]


def _rows_with_calls(trace: Trace) -> NDArray[np.bool_]:
    calls = np.array([lane.kind in CALLS for lane in trace.meta.lanes], bool)
    perhaps = np.array([lane.kind == PERHAPS for lane in trace.meta.lanes], bool)
    found = np.zeros(len(trace.row_lane), bool)
    found[:-1] = (trace.row_lane[1:] == trace.row_lane[:-1]) & (calls | perhaps)[trace.row_lane[:-1]]
    some = np.flatnonzero(found & perhaps[trace.row_lane])
    wild = np.array([row for row in some.tolist() if not _nests(trace, row)], np.int64)
    perhaps[:] = False
    perhaps[trace.row_lane[wild]] = True
    return found & ~perhaps[trace.row_lane]


def _nests(trace: Trace, row: int) -> bool:
    """Whether each slice of the row below lies inside one of this row; one without length covers nothing."""
    low, middle, high = (int(trace.row_begin[row + i]) for i in range(3))
    start, end = trace.start[middle:high], trace.end[middle:high]
    around = low + np.searchsorted(trace.start[low:middle], start, "right") - 1
    return bool(((start == end) | ((around >= low) & (trace.end[np.maximum(around, low)] >= end))).all())


def under(trace: Trace, rows: Numbers, begin: Numbers, end: Numbers) -> Numbers:
    """int64 [slices]: ns of [begin, end) that the row below covers, of parts of slices in `rows`, one row for each; 0
    where that row is not of calls."""
    found = np.zeros(len(rows), np.int64)
    some = np.flatnonzero(rows_with_calls(trace)[rows])
    low, high = trace.row_begin[rows[some] + 1], trace.row_begin[rows[some] + 2]
    for sign, times in ((-1, begin[some]), (1, end[some])):
        found[some] += sign * _busy_before(trace, low, first_from(trace.start, low, high, times), times)
    return found


def _busy_before(trace: Trace, low: Numbers | np.int64, behind: Numbers, times: Numbers) -> Numbers:
    """ns that a row covers before each time, and whatever lies before it. `behind`: its first slice from then on."""
    last = np.maximum(behind - 1, low)
    not_yet = np.where(behind > low, np.maximum(trace.end[last] - times, 0), 0)
    found: Numbers = trace.cover[behind] - not_yet
    return found


def under_all(trace: Trace) -> Numbers:
    """int64 [slices]: `under` of all slices."""
    found = np.zeros(len(trace.start), np.int64)
    for row in np.flatnonzero(rows_with_calls(trace)).tolist():
        own, low, high = (int(trace.row_begin[row + i]) for i in range(3))
        for sign, times in ((-1, trace.start[own:low]), (1, trace.end[own:low])):
            behind = low + np.searchsorted(trace.start[low:high], times)
            found[own:low] += sign * _busy_before(trace, np.int64(low), behind, times)
    return found


def seen_before(trace: Trace, span: Span) -> Numbers:
    """int64 [slices], filled for those of the range: up to when earlier slices of the same name cover a slice's part in
    the range, from its start (not at all) to its end, in the time of its own row. The union of all parts of a name is
    therefore the sum of end - seen; where the range is all of the trace, that of their parts in any range likewise."""
    seen = np.empty(len(trace.start), np.int64)
    latest = np.zeros(len(trace.name_family), np.int64)
    edges = window_edges(trace.start, span, _CHUNK)
    length = max(1, _last_end(trace, span) - int(edges[0]) + 1)
    longest = max(1, min(2 * _CHUNK, _LARGEST // length))
    for parts, in_order in _windows(trace, span, edges):
        for begin in range(0, len(in_order), longest):
            place = in_order[begin : begin + longest]
            key = trace.name[parts.order[place]]
            by_name = np.argsort(key.astype(np.uint16) if len(latest) <= 1 << 16 else key, kind="stable")
            some = parts.only(place[by_name])
            seen[some.order] = _see(some, key[by_name], latest, length) - some.shift
    return seen


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """Parts of slices in a range: `order`: of which; `start`, `end`: since the first of them, in the time shown;
    `shift`: what was added to the time of their row, for all of them or for each."""

    order: Numbers
    start: Numbers
    end: Numbers
    shift: Numbers

    def only(self, which: slice | Numbers) -> _Parts:
        shift = self.shift[which] if self.shift.ndim else self.shift
        return _Parts(order=self.order[which], start=self.start[which], end=self.end[which], shift=shift)


def _last_end(trace: Trace, span: Span) -> int:
    """In the time shown."""
    there = span.low < span.high
    ends = np.minimum(trace.end[span.high[there] - 1], span.end[there]) + span.shift[there]
    return int(ends.max(initial=0))


def _windows(trace: Trace, span: Span, edges: Numbers) -> Iterator[tuple[_Parts, Numbers]]:
    """All parts, some thousands at once, and their places in order of their start. Rows are in order already: cut into
    windows of time, each is sorted by its digits, which is half of the work of sorting all. A million rows are one."""
    if len(edges) * len(span.rows) > len(trace.start):
        edges = edges[[0, -1]]
    low, first = span.low, int(edges[0])
    for left, right in pairwise(edges.tolist()):
        high = first_from(trace.start, low, span.high, right - span.shift)
        parts = _parts(trace, span, low, high, first)
        yield parts, _by_digits(parts.start - (left - first), right - left)
        low = high


def _parts(trace: Trace, span: Span, low: Numbers, high: Numbers, first: int) -> _Parts:
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
    """Places in ascending order. numpy sorts numbers of 16 bits by counting, and stably: the lowest digits go first."""
    place = np.argsort(since.astype(np.uint16), kind="stable")
    for shift in range(16, largest.bit_length(), 16):
        place = place[np.argsort((since[place] >> shift).astype(np.uint16), kind="stable")]
    return place


def _see(parts: _Parts, key: NDArray[np.int32], latest: Numbers, length: int) -> Numbers:
    """Parts by name, and by start within a name: up to when each is covered. `latest`: per name the last end so far,
    which is carried on. Where the name changes, a running maximum begins anew, since each name lies a `length` higher
    than the one before."""
    is_first = np.ones(len(key), bool)
    is_first[1:] = key[1:] != key[:-1]
    lift = (np.cumsum(is_first) - 1) * length
    before = np.empty(len(key), np.int64)
    before[1:] = parts.end[:-1]
    before[is_first] = latest[key[is_first]]
    before = np.maximum.accumulate(before + lift) - lift
    np.maximum.at(latest, key, parts.end)
    found: Numbers = np.clip(before, parts.start, parts.end)
    return found


def pieces(low: Numbers, high: Numbers, longest: int) -> Iterator[slice | Numbers]:
    """The slices low to high - 1 of all rows, not more than `longest` at once: as ranges, or as indexes where the
    pieces are so short (there may be a million lanes) that one after the other would take too long."""
    some = low < high
    low, high = _joined(low[some], high[some])
    long = high - low >= longest // 64
    for first, behind in zip(low[long].tolist(), high[long].tolist(), strict=True):
        for begin in range(first, behind, longest):
            yield slice(begin, min(behind, begin + longest))
    yield from _gathered(low[~long], high[~long], longest)


def _joined(low: Numbers, high: Numbers) -> tuple[Numbers, Numbers]:
    """Pieces that lie side by side become one."""
    apart = np.ones(len(low) + 1, bool)
    apart[1:-1] = low[1:] != high[:-1]
    return low[apart[:-1]], high[apart[1:]]


def _gathered(low: Numbers, high: Numbers, longest: int) -> Iterator[Numbers]:
    group = (np.cumsum(high - low) - 1) // longest
    borders = np.flatnonzero(np.diff(group, prepend=-1, append=-1)) if len(group) else group
    for first, behind in pairwise(borders.tolist()):
        yield indexes(low[first:behind], high[first:behind])


def indexes(low: Numbers, high: Numbers) -> Numbers:
    """low to high - 1 of each piece, one behind the other."""
    counts = high - low
    found: Numbers = np.arange(counts.sum()) + np.repeat(low - (np.cumsum(counts) - counts), counts)
    return found
