"""Which row of its lane a slice goes to: a nested one below the one around it, others into the first free row.

Profiles of Ascend and Kineto are no proper nesting: slices of a stream stick out of each other by some hundred ns, and
a ProfilerStep begins in a call that it outlives. A strict stack loses those; here every slice finds a row.
"""

from __future__ import annotations

from bisect import bisect_left
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

SEARCHES = 3_000_000  # steps of looking for a free row, 0.2 s of them, before nesting is given up for speed


def depths(begin: Numbers, end: Numbers) -> NDArray[np.int32]:
    """Return the row within its lane of each slice, for slices sorted by (begin, -end). Both keys contain the lane
    above the time, so slices of different lanes never overlap."""
    depth = np.zeros(len(begin), np.int32)
    first = np.ones(len(begin) + 1, bool)  # of a stretch: no earlier slice reaches into it
    np.greater_equal(begin[1:], np.maximum.accumulate(end)[:-1], out=first[1:-1])
    several = np.flatnonzero(~(first[:-1] & first[1:]))
    if len(several):
        depth[several] = _nested(begin[several], end[several], first[several])
    return depth


def _nested(begin: Numbers, end: Numbers, first: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the number of slices around each one, which is its row where slices nest; stretches that do not nest are
    done again."""
    lasting = end > begin
    opened: Numbers = np.cumsum(lasting) - lasting
    depth = opened - np.searchsorted(np.sort(end[lasting]), begin, "right")
    wrong = _misfits(end, depth)
    if len(wrong):
        stretch = np.flatnonzero(first)
        bounds = np.append(stretch, len(begin))
        budget = [SEARCHES]
        for number in np.unique(np.searchsorted(stretch, wrong, "right") - 1).tolist():
            part = slice(bounds[number], bounds[number + 1])
            depth[part] = _greedy(begin[part].tolist(), end[part].tolist(), budget)
    return depth.astype(np.int32)


def _misfits(end: Numbers, depth: Numbers) -> Numbers:
    """Return the slices that do not lie inside the preceding slice that is one level up; all slices nest where there
    are none."""
    order = by_row(depth)
    key = depth[order]
    inner = int(np.searchsorted(key, 1))
    key *= len(end)
    key += order
    around = np.searchsorted(key, key[inner:] - len(end)) - 1
    ends = end[order]
    misfits: Numbers = order[inner:][ends[around] < ends[inner:]]
    return misfits


def by_row(row: NDArray[np.integer[Any]]) -> Numbers:
    """Return the order that groups slices by row and keeps their order within a row."""
    if len(row) and int(row.max()) < 1 << 16:
        return np.argsort(row.astype(np.uint16), kind="stable")
    return np.argsort(row, kind="stable")


def _greedy(begins: list[int], ends: list[int], budget: list[int]) -> list[int]:
    """Lay out one stretch, slice by slice. `last`: when each row becomes free. `around`: the rows whose open slice may
    contain a later one; the lower the row, the sooner its slice ends."""
    last: list[int] = []
    around: list[int] = []
    reach: list[int] = []  # minus the ends of `around`, which is ascending
    rows: list[int] = []
    for begin, end in zip(begins, ends, strict=True):
        while reach and -reach[-1] <= begin:
            reach.pop()
            around.pop()
        inside = bisect_left(reach, 1 - end)
        row = around[inside - 1] + 1 if inside else 0
        begun = row
        while row < len(last) and last[row] > begin:
            row += 1
        budget[0] -= row - begun
        if budget[0] < 0:
            return rows + _anyhow(begins[len(rows) :], ends[len(rows) :], last)
        if row == len(last):
            last.append(end)
        last[row] = end
        below = bisect_left(around, row)
        around[inside:below] = [row]
        reach[inside:below] = [-end]
        rows.append(row)
    return rows


def _anyhow(begins: list[int], ends: list[int], last: list[int]) -> list[int]:
    """Use the first free row and ignore nesting: where thousands of slices overlap there is none to be seen."""
    busy = [(end, row) for row, end in enumerate(last)]
    heapify(busy)
    free: list[int] = []
    count = len(last)
    rows: list[int] = []
    for begin, end in zip(begins, ends, strict=True):
        while busy and busy[0][0] <= begin:
            heappush(free, heappop(busy)[1])
        if free:
            row = heappop(free)
        else:
            row, count = count, count + 1
        heappush(busy, (end, row))
        rows.append(row)
    return rows
