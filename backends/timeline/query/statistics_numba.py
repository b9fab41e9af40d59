"""Loops for numba, which `numba_kernels` compiles: the same statistics as `statistics` and `coverage_numpy`, with
identical numbers.

numba compiles plain functions of arrays and named tuples of arrays: `StatisticsKernels` makes these of a trace and a
range.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

BUCKETS = 8192
MAX_MOVES = 16  # moves per slice, until a window is sorted by comparing


class RangeRows(NamedTuple):
    """int64 [rows] each: slices low to high - 1 of a row lie in the range, ascending; `begin`, `end`: the range in the
    time of the row; `shift`: by how much later the row is displayed."""

    low: Numbers
    high: Numbers
    begin: Numbers
    end: Numbers
    shift: Numbers


class SliceColumns(NamedTuple):
    """[slices] each: start and end in ns since the origin, and the number of the name."""

    start: Numbers
    stop: Numbers
    name: NDArray[np.int32]


def tally(
    rows: RangeRows, below: Numbers, below_high: Numbers, slices: SliceColumns, until: Numbers, table: Numbers
) -> None:
    """Add up figures per name into `table` int64 [names, 6], with the columns of `tally`. `below` to `below_high` - 1:
    slices of the row below that may cover something; empty where it does not count. `until`: see
    `coverage_numpy.covered_until`."""
    low, high, begin, end = rows.low, rows.high, rows.begin, rows.end
    start, stop, name = slices.start, slices.stop, slices.name
    for row in range(len(low)):
        first = below[row]
        for i in range(low[row], high[row]):
            a, b = max(start[i], begin[row]), min(stop[i], end[row])
            while first < below_high[row] and stop[first] <= a:
                first += 1
            at, covered = first, 0
            while at < below_high[row] and start[at] < b:
                covered += min(stop[at], b) - max(start[at], a)
                at += 1
            figures = table[name[i]]
            figures[0] += 1
            figures[1] += b - a
            figures[2] += b - min(max(until[i], a), b)
            figures[3] += b - a - covered
            figures[4] = min(figures[4], b - a)
            figures[5] = max(figures[5], b - a)


def covered_until(rows: RangeRows, slices: SliceColumns, edges: Numbers, latest: Numbers, until: Numbers) -> None:
    """Fill `until` for these slices only: the same as `coverage_numpy.covered_until`.

    Slices are taken in windows of time between `edges`, a few thousand each, and sorted by buckets: rows are already in
    order, and sorting everything would be four times the work. `latest` [names]: until when each name is covered so
    far.
    """
    low, high, begin, end, shift = rows.low, rows.high, rows.begin, rows.end, rows.shift
    start, stop, name = slices.start, slices.stop, slices.name
    position = low.copy()
    bounds = np.empty(BUCKETS + 1, np.int32)
    size = 2 * BUCKETS
    indexes, starts, row_of = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    bucket_of, order = np.empty(size, np.int32), np.empty(size, np.int32)
    for window in range(len(edges) - 1):
        left, right = edges[window], edges[window + 1]
        count = 0
        for row in range(len(low)):
            first, behind = position[row], position[row]
            while behind < high[row] and max(start[behind], begin[row]) + shift[row] < right:
                behind += 1
            if count + behind - first > len(indexes):  # replace the buffers by ones of twice the size
                more = np.empty(2 * (count + behind - first) - len(indexes), np.int64)
                indexes, starts, row_of = np.append(indexes, more), np.append(starts, more), np.append(row_of, more)
                bucket_of, order = np.empty(len(indexes), np.int32), np.empty(len(indexes), np.int32)
            for i in range(first, behind):
                indexes[count], starts[count], row_of[count] = i, max(start[i], begin[row]) + shift[row], row
                count += 1
            position[row] = behind
        bounds[:] = 0
        scale = BUCKETS / float(right - left)
        for k in range(count):
            bucket_of[k] = min(int((starts[k] - left) * scale), BUCKETS - 1)
            bounds[bucket_of[k] + 1] += 1
        for bucket in range(BUCKETS):
            bounds[bucket + 1] += bounds[bucket]
        for k in range(count):
            order[bounds[bucket_of[k]]] = k
            bounds[bucket_of[k]] += 1
        moves = 0
        for k in range(1, count):
            moving, to = order[k], k
            while to > 0 and moves <= MAX_MOVES * count and starts[order[to - 1]] > starts[moving]:
                order[to] = order[to - 1]
                to -= 1
                moves += 1
            order[to] = moving
        if moves > MAX_MOVES * count:
            order[:count] = np.argsort(starts[:count])
        for k in range(count):
            i, moved = indexes[order[k]], shift[row_of[order[k]]]
            covered, last = latest[name[i]], min(stop[i], end[row_of[order[k]]]) + moved
            until[i] = min(max(covered, starts[order[k]]), last) - moved
            latest[name[i]] = max(covered, last)
