"""The marks and columns that a plot draws of many calls: a mark each where they are few, min to max of a pixel column
elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.comparison import DIFFERS, EXTRA, FIRST, FOLLOWS, MISSING, VERDICTS
from ui.precision.comparison.plot_scale import log_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.precision.compare.comparison import Comparison
    from ui.precision.comparison.plot_scale import Scale

MAX_MARKS = 300
MARK_EVERY = 9
BEYOND = (FOLLOWS, DIFFERS, FIRST, MISSING, EXTRA)
"""Verdicts whose calls are drawn at ∞ where they have no figure: they differ, though nobody can say by how much."""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The pixel columns that hold calls: x, y of the largest and the smallest error; `zeros` is the x of columns with
    an error of zero."""

    x: NDArray[np.int64]
    top: NDArray[np.float64]
    bottom: NDArray[np.float64]
    zeros: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Region:
    """Calls of one direction of one pass. `is_new`: a pass begins here."""

    begin: int
    end: int
    number: int
    is_backward: bool
    is_new: bool


class Points:
    """The calls of a comparison.

    `levels` are those of plot_scale; `limits` is the largest explained level of each call, NaN where there is none."""

    def __init__(self, comparison: Comparison) -> None:
        verdicts = comparison.call_verdict
        self.count = len(verdicts)
        self.verdicts = verdicts
        self.levels = log_levels(comparison.call_error)
        without = np.isnan(self.levels)
        self.levels[without] = np.where(np.isin(verdicts[without], BEYOND), np.inf, -np.inf)
        limits = log_levels(comparison.call_allowed)
        self.limits = np.where(np.isfinite(limits), limits, np.float32(np.nan))
        self._finite = np.where(np.isfinite(self.levels), self.levels, np.float32(np.nan))
        self._calls = [np.flatnonzero(verdicts == verdict) for verdict in range(len(VERDICTS))]
        self.regions = _regions(comparison)

    def in_view(self, verdict: int, scale: Scale) -> NDArray[np.int64]:
        """Return the calls in view that have a verdict."""
        begin, end = scale.visible()
        calls = self._calls[verdict]
        return calls[calls.searchsorted(begin) : calls.searchsorted(end)]

    def marks(self, verdict: int, calls: NDArray[np.int64], scale: Scale) -> NDArray[np.int64]:
        """Return the calls to draw a mark for: all where they are few, else the largest of every few pixel columns."""
        if len(calls) <= MAX_MARKS or verdict == FIRST:
            return calls
        begins = np.flatnonzero(np.diff(scale.x(calls).astype(np.int64) // MARK_EVERY, prepend=-1))
        largest = np.maximum.reduceat(self.levels[calls], begins)
        group_largest = np.repeat(largest, np.diff(begins, append=len(calls)))
        hits = np.flatnonzero(self.levels[calls] == group_largest)
        groups = np.searchsorted(begins, hits, "right")
        first_calls: NDArray[np.int64] = calls[hits[np.flatnonzero(np.diff(groups, prepend=0))]]
        return first_calls

    def columns(self, calls: NDArray[np.int64], scale: Scale) -> Columns:
        """Reduce calls, in the order of their indices, to pixel columns."""
        x = scale.x(calls).astype(np.int64)
        begins = np.flatnonzero(np.diff(x, prepend=-1))
        finite = self._finite[calls]
        high, low = np.fmax.reduceat(finite, begins), np.fmin.reduceat(finite, begins)
        has_zero = np.logical_or.reduceat(self.levels[calls] == -np.inf, begins)
        is_finite = ~np.isnan(high)
        x = x[begins]
        return Columns(x=x[is_finite], top=scale.y(high[is_finite]), bottom=scale.y(low[is_finite]), zeros=x[has_zero])

    def limit(self, scale: Scale) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return x and y of the limit's line: a step per call where calls are wide, else the largest of each pixel
        column."""
        begin, end = scale.visible()
        begin, end = max(0, begin), min(self.count, end)
        limits = self.limits[begin:end]
        if end - begin > scale.width:
            edges = np.clip(scale.edges()[:-1].astype(np.int64) - begin, 0, end - begin - 1)
            x, limits = scale.left + np.arange(scale.width, dtype=np.float64), np.fmax.reduceat(limits, edges)
            finite = ~np.isnan(limits)
            return x[finite], scale.y(limits[finite])
        finite = np.flatnonzero(~np.isnan(limits))
        half = 0.5 * scale.width / (scale.end - scale.begin)
        middle = scale.x(finite + begin)
        x = np.column_stack([middle - half, middle + half]).ravel()
        return np.clip(x, scale.left, scale.left + scale.width), np.repeat(scale.y(limits[finite]), 2)

    def nearest(self, x: float, y: float, scale: Scale, reach: float) -> int:
        """Return the call drawn nearest to (x, y), the worst of those equally near; -1 where none is within `reach`
        px."""
        begin, end = int(scale.call(x - reach)), int(np.ceil(scale.call(x + reach))) + 1
        calls = np.arange(max(0, begin), min(self.count, end))
        if not len(calls):
            return -1
        distance = np.hypot(scale.x(calls) - x, scale.y(self.levels[calls]) - y) - _MARK_PULL[self.verdicts[calls]]
        best = int(distance.argmin())
        return int(calls[best]) if distance[best] <= reach else -1


_MARK_PULL = np.array([0, 1, 2, 6, 9, 6, 6, 0], np.float64)
"""How many pixels nearer a mark of each verdict counts, since of many marks on one spot the worst is meant."""


def _regions(comparison: Comparison) -> tuple[Region, ...]:
    calls = len(comparison.call_verdict)
    firsts = [dump_pass.first_call for dump_pass in comparison.passes]
    turns = np.flatnonzero(np.diff(comparison.is_backward.astype(np.int8))) + 1
    begins = [begin for begin in np.union1d(firsts, turns).astype(int).tolist() if begin < calls]
    if not begins:
        return ()
    numbers = np.searchsorted(firsts, begins, "right") - 1
    return tuple(
        Region(
            begin=begin,
            end=end,
            number=int(number),
            is_backward=bool(comparison.is_backward[begin]),
            is_new=begin in firsts,
        )
        for begin, end, number in zip(begins, [*begins[1:], calls], numbers, strict=True)
    )
