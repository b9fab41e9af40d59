"""The plausible extent of a profile: a single row with a wrong clock would shrink all others to nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

YEAR = 366 * 86_400 * 1_000_000_000
EARLIEST_EPOCH = 3 * YEAR  # what is later counts from 1970, not from the start of a machine
LARGEST_DISTANCE = 1 << 61  # so that no difference of two times leaves int64
SAMPLE = 100_000


@dataclass(frozen=True, kw_only=True)
class TimeSpan:
    """Times from `low` to `high` are shown."""

    low: int
    high: int

    def holds(self, begin: Numbers, end: Numbers) -> NDArray[np.bool_]:
        edge = np.iinfo(np.int64)
        low, high = max(self.low, edge.min), min(self.high, edge.max)
        fits: NDArray[np.bool_] = (begin >= low) & (end <= high) & (end >= begin)
        return fits


def plausible_span(times: list[Numbers]) -> TimeSpan:
    """Return the extent to show. Events more than a year away from the rest are dropped if they are at most a tenth of
    all; events that do not count from 1970, while the rest does, are dropped if they are less than a third."""
    extremes = [(int(column.min()), int(column.max())) for column in times if len(column)]
    if not extremes:
        return TimeSpan(low=0, high=0)
    low, high = min(a for a, _ in extremes), max(b for _, b in extremes)
    if high - low <= YEAR and (low > EARLIEST_EPOCH or high <= EARLIEST_EPOCH):
        return TimeSpan(low=low, high=high)
    return _without_outliers(times)


def _without_outliers(times: list[Numbers]) -> TimeSpan:
    """Take the median of the first non-empty columns: slices, else instants, ends, samples."""
    first = next(column for column in times if len(column))
    middle = int(np.partition(first, len(first) // 2)[len(first) // 2])
    every = np.concatenate(times)
    near = TimeSpan(low=middle - YEAR, high=middle + YEAR)
    if 10 * _outside(every, near) <= len(every):
        return near
    possible = TimeSpan(low=middle - LARGEST_DISTANCE, high=middle + LARGEST_DISTANCE)
    counted = TimeSpan(low=max(EARLIEST_EPOCH, possible.low), high=possible.high)
    return counted if middle > EARLIEST_EPOCH and 3 * _outside(every, counted) < len(every) else possible


def _outside(times: Numbers, span: TimeSpan) -> int:
    edge = np.iinfo(np.int64)
    low, high = max(span.low, edge.min), min(span.high, edge.max)
    return int(np.count_nonzero((times < low) | (times > high)))
