"""Sets of time: disjoint intervals in order, made from slices that may overlap."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Intervals:
    """`start`, `end`: int64 ns, ascending; no interval is empty, and none touches the next."""

    start: Numbers
    end: Numbers

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def lengths(self) -> Numbers:
        """int64 [n + 1]: total length of all intervals before each."""
        return np.concatenate(([0], np.cumsum(self.end - self.start)))

    @property
    def length(self) -> int:
        return int(self.lengths[-1])

    def begun_in(self, begin: int, end: int) -> int:
        """Return the length of the intervals that start in [begin, end), including what reaches beyond it."""
        low, high = np.searchsorted(self.start, (begin, max(begin, end)))
        return int(self.lengths[high] - self.lengths[low])

    def covered_by(self, others: Intervals) -> Numbers:
        """int64 [n]: how much of each interval `others` cover."""
        parts = intersection(self, others)
        low, high = np.searchsorted(parts.start, self.start), np.searchsorted(parts.start, self.end)
        return parts.lengths[high] - parts.lengths[low]

    def holds(self, times: Numbers) -> NDArray[np.bool_]:
        if not len(self):
            return np.zeros(len(times), np.bool_)
        at = np.searchsorted(self.start, times, "right") - 1
        return np.asarray((at >= 0) & (times < self.end[at]))


def union(start: Numbers, end: Numbers) -> Intervals:
    lasts = end > start
    start, end = np.asarray(start)[lasts], np.asarray(end)[lasts]
    order = np.argsort(start, kind="stable")
    start, reach = start[order], np.maximum.accumulate(end[order])
    if not len(start):
        return NO_INTERVALS
    new = np.flatnonzero(start[1:] > reach[:-1]) + 1
    return Intervals(start[np.concatenate(([0], new))], reach[np.concatenate((new - 1, [-1]))])


def union_of(pieces: Iterable[Intervals]) -> Intervals:
    each = (NO_INTERVALS, *pieces)
    return union(
        np.concatenate([intervals.start for intervals in each]), np.concatenate([intervals.end for intervals in each])
    )


def difference(some: Intervals, others: Intervals) -> Intervals:
    """Return the parts of `some` that lie in none of `others`."""
    return _where(some, others, False)


def intersection(some: Intervals, others: Intervals) -> Intervals:
    """Return the parts of `some` that also lie in `others`."""
    return _where(some, others, True)


def _where(some: Intervals, others: Intervals, inside: bool) -> Intervals:
    edges = np.unique(np.concatenate((some.start, some.end, others.start, others.end)))
    begin, end = edges[:-1], edges[1:]
    keep = some.holds(begin) & (others.holds(begin) == inside)
    return union(begin[keep], end[keep])


def gaps(pieces: Intervals) -> Intervals:
    """Return what lies between the intervals."""
    return Intervals(pieces.end[:-1], pieces.start[1:])


NO_INTERVALS = Intervals(np.empty(0, np.int64), np.empty(0, np.int64))
