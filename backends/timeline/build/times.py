"""Where a profile begins, and the events whose time cannot be right: one row with a wrong clock would shrink all others
to nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

YEAR = 366 * 86_400 * 1_000_000_000
EPOCH = 3 * YEAR  # what is later counts from 1970, not from the start of a machine
FARTHEST = 1 << 61  # so that no difference of two times leaves int64
SAMPLE = 100_000


@dataclass(frozen=True, kw_only=True)
class Span:
    """Times from `low` to `high` are shown."""

    low: int
    high: int

    def holds(self, begin: Numbers, end: Numbers) -> NDArray[np.bool_]:
        edge = np.iinfo(np.int64)
        low, high = max(self.low, edge.min), min(self.high, edge.max)
        fits: NDArray[np.bool_] = (begin >= low) & (end <= high) & (end >= begin)
        return fits


def span_of(times: list[Numbers]) -> Span:
    """What lies more than a year from the rest is not shown, if it is at most a tenth of all; nor, if it is less than a
    third, what has not counted from 1970 on where the rest has."""
    extremes = [(int(column.min()), int(column.max())) for column in times if len(column)]
    if not extremes:
        return Span(low=0, high=0)
    low, high = min(a for a, _ in extremes), max(b for _, b in extremes)
    if high - low <= YEAR and (low > EPOCH or high <= EPOCH):
        return Span(low=low, high=high)
    return _without_outliers(times)


def _without_outliers(times: list[Numbers]) -> Span:
    """The middle comes from the first of the columns that has any: slices, else instants, ends, samples."""
    first = next(column for column in times if len(column))
    middle = int(np.partition(first, len(first) // 2)[len(first) // 2])
    every = np.concatenate(times)
    near = Span(low=middle - YEAR, high=middle + YEAR)
    if 10 * _outside(every, near) <= len(every):
        return near
    possible = Span(low=middle - FARTHEST, high=middle + FARTHEST)
    counted = Span(low=max(EPOCH, possible.low), high=possible.high)
    return counted if middle > EPOCH and 3 * _outside(every, counted) < len(every) else possible


def _outside(times: Numbers, span: Span) -> int:
    edge = np.iinfo(np.int64)
    low, high = max(span.low, edge.min), min(span.high, edge.max)
    return int(np.count_nonzero((times < low) | (times > high)))
