"""What of a slice is covered: by the row below it (what it calls), or by an earlier slice of its own name."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.query.bounds import first_from

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from backends.timeline.kinds import LaneKind
    from backends.timeline.trace import Trace

    Numbers = NDArray[np.int64]

CALLS: tuple[LaneKind, ...] = ("host", "api")  # what lies below a slice there is called by it
_CHUNK = 1 << 16
_LARGEST = 1 << 62


def rows_with_calls(trace: Trace) -> NDArray[np.bool_]:
    """bool [rows]: where the row below belongs to the same lane, and that lane is one of calls."""
    calls = np.array([lane.kind in CALLS for lane in trace.meta.lanes], bool)
    found = np.zeros(len(trace.row_lane), bool)
    found[:-1] = (trace.row_lane[1:] == trace.row_lane[:-1]) & calls[trace.row_lane[:-1]]
    return found


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


def seen_before(start: Numbers, end: Numbers, name: NDArray[np.int32], names: int, borders: Numbers) -> Numbers:
    """int64 [slices]: up to when earlier slices of the same name cover a slice, from `start` (not at all) to `end`. The
    union of all slices of a name is therefore the sum of end - seen, and that of their parts in any range likewise.
    Times are at least 0, and ascend between each two of `borders`."""
    seen = np.empty(len(start), np.int64)
    latest = np.zeros(names, np.int64)
    span = int(end.max(initial=0)) + 1
    longest = max(1, _LARGEST // span)
    for order in in_order(start, borders):
        for begin in range(0, len(order), longest):
            _see(order[begin : begin + longest], start, end, name, latest, seen, span)
    return seen


def in_order(start: Numbers, borders: Numbers) -> Iterator[Numbers]:
    """All slices in order of their start, some thousands at once. Rows are in order already: cut into windows of time,
    each is sorted by its digits, which is a third of the work of sorting all."""
    edges = _edges(start)
    if len(edges) * len(borders) > len(start):
        order = np.argsort(start, kind="stable")
        yield from (order[begin : begin + _CHUNK] for begin in range(0, len(order), _CHUNK))
        return
    low = borders[:-1]
    for left, right in pairwise(edges.tolist()):
        high = first_from(start, low, borders[1:], right)
        yield _by_digits(indexes(low, high), start, left, right - left)
        low = high


def _edges(start: Numbers) -> Numbers:
    """Times between which about _CHUNK slices start, from the first to behind the last."""
    sample = np.sort(start[:: _CHUNK // 32])
    ends = [int(start.min(initial=0)), int(start.max(initial=0)) + 1]
    return np.unique(np.concatenate([ends, sample[32::32]]))


def _by_digits(order: Numbers, start: Numbers, left: int, span: int) -> Numbers:
    """numpy sorts numbers of 16 bits by counting, and stably: the lowest digits go first."""
    since = start[order] - left
    for shift in range(0, span.bit_length(), 16):
        by_digit = np.argsort((since >> shift).astype(np.uint16), kind="stable")
        order, since = order[by_digit], since[by_digit]
    return order


def _see(
    order: Numbers, start: Numbers, end: Numbers, name: NDArray[np.int32], latest: Numbers, seen: Numbers, span: int
) -> None:
    """A few slices in order of their start. `latest`: per name the last end so far, which is carried on. Where the name
    changes, a running maximum begins anew, since each name lies a `span` higher than the one before."""
    key = name[order]
    by_name = np.argsort(key.astype(np.uint16) if len(latest) <= 1 << 16 else key, kind="stable")
    order, key = order[by_name], key[by_name]
    ends = end[order]
    is_first = np.ones(len(key), bool)
    is_first[1:] = key[1:] != key[:-1]
    lift = (np.cumsum(is_first) - 1) * span
    before = np.empty(len(key), np.int64)
    before[1:] = ends[:-1]
    before[is_first] = latest[key[is_first]]
    before = np.maximum.accumulate(before + lift) - lift
    seen[order] = np.clip(before, start[order], ends)
    np.maximum.at(latest, key, ends)


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
