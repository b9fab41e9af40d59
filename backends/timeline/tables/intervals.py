"""Sets of time: disjoint pieces in order, from slices that overlap as they like."""

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
class Pieces:
    """`start`, `end`: int64 ns, ascending; every piece lasts, and none touches the next."""

    start: Numbers
    end: Numbers

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def lengths(self) -> Numbers:
        """[n + 1]: of all pieces before each."""
        return np.concatenate(([0], np.cumsum(self.end - self.start)))

    @property
    def length(self) -> int:
        return int(self.lengths[-1])

    def begun_in(self, begin: int, end: int) -> int:
        """Length of the pieces that start in [begin, end), also of what reaches beyond it."""
        low, high = np.searchsorted(self.start, (begin, max(begin, end)))
        return int(self.lengths[high] - self.lengths[low])

    def holds(self, times: Numbers) -> NDArray[np.bool_]:
        if not len(self):
            return np.zeros(len(times), np.bool_)
        at = np.searchsorted(self.start, times, "right") - 1
        return np.asarray((at >= 0) & (times < self.end[at]))


def union(start: Numbers, end: Numbers) -> Pieces:
    lasts = end > start
    start, end = np.asarray(start)[lasts], np.asarray(end)[lasts]
    order = np.argsort(start, kind="stable")
    start, reach = start[order], np.maximum.accumulate(end[order])
    if not len(start):
        return NOTHING
    new = np.flatnonzero(start[1:] > reach[:-1]) + 1
    return Pieces(start[np.concatenate(([0], new))], reach[np.concatenate((new - 1, [-1]))])


def together(pieces: Iterable[Pieces]) -> Pieces:
    each = (NOTHING, *pieces)
    return union(np.concatenate([one.start for one in each]), np.concatenate([one.end for one in each]))


def without(some: Pieces, others: Pieces) -> Pieces:
    """What of `some` lies in none of `others`."""
    return _where(some, others, False)


def within(some: Pieces, others: Pieces) -> Pieces:
    """What of `some` lies in `others` too."""
    return _where(some, others, True)


def _where(some: Pieces, others: Pieces, inside: bool) -> Pieces:
    edges = np.unique(np.concatenate((some.start, some.end, others.start, others.end)))
    begin, end = edges[:-1], edges[1:]
    keep = some.holds(begin) & (others.holds(begin) == inside)
    return union(begin[keep], end[keep])


def between(pieces: Pieces) -> Pieces:
    """What lies between them."""
    return Pieces(pieces.end[:-1], pieces.start[1:])


NOTHING = Pieces(np.empty(0, np.int64), np.empty(0, np.int64))
