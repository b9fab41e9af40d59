"""What of many calls a plot draws: marks where there are few, from the least to the largest of a column of pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.comparison import DIFFERS, EXTRA, FIRST, FOLLOWS, MISSING, VERDICTS
from ui.precision.plot_scale import levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.precision.compare.comparison import Comparison
    from ui.precision.plot_scale import Scale

MOST_MARKS = 300
MARK_EVERY = 9
BEYOND = (FOLLOWS, DIFFERS, FIRST, MISSING, EXTRA)
"""Verdicts of calls that are drawn at ∞ where they have no figure: they differ, though nobody can say how much."""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Of the columns of pixels that hold something: x, largest and least y; x of those on the line of nought."""

    x: NDArray[np.int64]
    top: NDArray[np.float64]
    bottom: NDArray[np.float64]
    zeros: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Region:
    """Calls of one direction of one pass; `is_new`: a pass begins here."""

    begin: int
    end: int
    number: int
    is_backward: bool
    is_new: bool


class Points:
    """Of a comparison. `levels`: see plot_scale; `limits`: the same of what is explained, NaN where there is none."""

    def __init__(self, comparison: Comparison) -> None:
        verdicts = comparison.call_verdict
        self.count = len(verdicts)
        self.verdicts = verdicts
        self.levels = levels(comparison.call_error)
        without = np.isnan(self.levels)
        self.levels[without] = np.where(np.isin(verdicts[without], BEYOND), np.inf, -np.inf)
        limits = levels(comparison.call_allowed)
        self.limits = np.where(np.isfinite(limits), limits, np.float32(np.nan))
        self._finite = np.where(np.isfinite(self.levels), self.levels, np.float32(np.nan))
        self._calls = [np.flatnonzero(verdicts == verdict) for verdict in range(len(VERDICTS))]
        self.regions = _regions(comparison)

    def of(self, verdict: int, scale: Scale) -> NDArray[np.int64]:
        """The calls in view that have a verdict."""
        begin, end = scale.visible()
        calls = self._calls[verdict]
        return calls[calls.searchsorted(begin) : calls.searchsorted(end)]

    def marks(self, verdict: int, calls: NDArray[np.int64], scale: Scale) -> NDArray[np.int64]:
        """Calls to draw a mark for: all where they are few, else of each few columns the largest."""
        if len(calls) <= MOST_MARKS or verdict == FIRST:
            return calls
        begins = np.flatnonzero(np.diff(scale.x(calls).astype(np.int64) // MARK_EVERY, prepend=-1))
        largest = np.maximum.reduceat(self.levels[calls], begins)
        of_each = np.repeat(largest, np.diff(begins, append=len(calls)))
        hits = np.flatnonzero(self.levels[calls] == of_each)
        groups = np.searchsorted(begins, hits, "right")
        return calls[hits[np.flatnonzero(np.diff(groups, prepend=0))]]

    def columns(self, calls: NDArray[np.int64], scale: Scale) -> Columns:
        """Of many calls in the order of their indices."""
        x = scale.x(calls).astype(np.int64)
        begins = np.flatnonzero(np.diff(x, prepend=-1))
        finite = self._finite[calls]
        high, low = np.fmax.reduceat(finite, begins), np.fmin.reduceat(finite, begins)
        has_zero = np.logical_or.reduceat(self.levels[calls] == -np.inf, begins)
        there = ~np.isnan(high)
        x = x[begins]
        return Columns(x=x[there], top=scale.y(high[there]), bottom=scale.y(low[there]), zeros=x[has_zero])

    def limit(self, scale: Scale) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """x and y of the line of what is explained: steps where calls are wide, else the largest of each column."""
        begin, end = scale.visible()
        begin, end = max(0, begin), min(self.count, end)
        limits = self.limits[begin:end]
        if end - begin > scale.width:
            edges = np.clip(scale.edges()[:-1].astype(np.int64) - begin, 0, end - begin - 1)
            x, limits = scale.left + np.arange(scale.width, dtype=np.float64), np.fmax.reduceat(limits, edges)
            there = ~np.isnan(limits)
            return x[there], scale.y(limits[there])
        there = np.flatnonzero(~np.isnan(limits))
        half = 0.5 * scale.width / (scale.end - scale.begin)
        middle = scale.x(there + begin)
        x = np.column_stack([middle - half, middle + half]).ravel()
        return np.clip(x, scale.left, scale.left + scale.width), np.repeat(scale.y(limits[there]), 2)

    def nearest(self, x: float, y: float, scale: Scale, reach: float) -> int:
        """The call drawn next to a place, -1 where none is near; of those as near, the worst."""
        begin, end = int(scale.call(x - reach)), int(np.ceil(scale.call(x + reach))) + 1
        calls = np.arange(max(0, begin), min(self.count, end))
        if not len(calls):
            return -1
        distance = np.hypot(scale.x(calls) - x, scale.y(self.levels[calls]) - y) - _PULL[self.verdicts[calls]]
        best = int(distance.argmin())
        return int(calls[best]) if distance[best] <= reach else -1


_PULL = np.array([0, 1, 2, 6, 9, 6, 6, 0], np.float64)
"""By how many pixels a mark of each verdict is nearer than it is: of many on one place one wants the worst."""


def _regions(comparison: Comparison) -> tuple[Region, ...]:
    calls = len(comparison.call_verdict)
    firsts = [one.first_call for one in comparison.passes]
    turns = np.flatnonzero(np.diff(comparison.is_backward.astype(np.int8))) + 1
    begins = [begin for begin in np.union1d(firsts, turns).astype(int).tolist() if begin < calls]
    if not begins:
        return ()
    numbers = np.searchsorted(firsts, begins, "right") - 1
    return tuple(
        Region(begin=begin, end=end, number=int(number), is_backward=bool(comparison.is_backward[begin]),
               is_new=begin in firsts)
        for begin, end, number in zip(begins, [*begins[1:], calls], numbers, strict=True)
    )  # fmt: skip
