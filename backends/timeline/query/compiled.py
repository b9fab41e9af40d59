"""Loops for numba: `fast` compiles them. They give exactly what numpy gives.

All take the slices low to high - 1 of some rows, ascending in each. `begin`, `end`: int64 [rows], of the range, as the
row itself counts time; `shift`: by how much later the row is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

BUCKETS = 8192
PATIENCE = 16  # moves per slice, until a window is sorted by comparing


def tally(
    low: Numbers, high: Numbers, begin: Numbers, end: Numbers, below: Numbers, below_high: Numbers,
    start: Numbers, stop: Numbers, name: NDArray[np.int32], seen: Numbers, table: Numbers,
) -> None:  # fmt: skip
    """Into `table` int64 [names, 6], in the order of `tally`. `below` to `below_high` - 1: the slices of the row below
    that may cover something; none where it does not count. `seen`: see `covered.seen_before`."""
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
            figures[2] += b - min(max(seen[i], a), b)
            figures[3] += b - a - covered
            figures[4] = min(figures[4], b - a)
            figures[5] = max(figures[5], b - a)


def see(
    low: Numbers, high: Numbers, begin: Numbers, end: Numbers, shift: Numbers, start: Numbers, stop: Numbers,
    name: NDArray[np.int32], edges: Numbers, latest: Numbers, seen: Numbers,
) -> None:  # fmt: skip
    """Into `seen`, of these slices alone. They are taken by windows of time, between `edges`, of a few thousand, which
    are sorted by buckets: the rows are in order already, so that sorting all would be four times the work. `latest`
    [names]: up to when each name is covered."""
    place = low.copy()
    bounds = np.empty(BUCKETS + 1, np.int32)
    size = 2 * BUCKETS
    found, starts, row_of = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    bucket_of, order = np.empty(size, np.int32), np.empty(size, np.int32)
    for window in range(len(edges) - 1):
        left, right = edges[window], edges[window + 1]
        count = 0
        for row in range(len(low)):
            first, behind = place[row], place[row]
            while behind < high[row] and max(start[behind], begin[row]) + shift[row] < right:
                behind += 1
            if count + behind - first > len(found):  # all anew, of twice the size
                more = np.empty(2 * (count + behind - first) - len(found), np.int64)
                found, starts, row_of = np.append(found, more), np.append(starts, more), np.append(row_of, more)
                bucket_of, order = np.empty(len(found), np.int32), np.empty(len(found), np.int32)
            for i in range(first, behind):
                found[count], starts[count], row_of[count] = i, max(start[i], begin[row]) + shift[row], row
                count += 1
            place[row] = behind
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
            one, to = order[k], k
            while to > 0 and moves <= PATIENCE * count and starts[order[to - 1]] > starts[one]:
                order[to] = order[to - 1]
                to -= 1
                moves += 1
            order[to] = one
        if moves > PATIENCE * count:
            order[:count] = np.argsort(starts[:count])
        for k in range(count):
            i, moved = found[order[k]], shift[row_of[order[k]]]
            covered, last = latest[name[i]], min(stop[i], end[row_of[order[k]]]) + moved
            seen[i] = min(max(covered, starts[order[k]]), last) - moved
            latest[name[i]] = max(covered, last)
