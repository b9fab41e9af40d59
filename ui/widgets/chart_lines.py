"""What a chart draws: its lines, their styles, and which of them are points rather than a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from studio.series import Series

SHAPES = ("o", "t", "s", "d", "+", "x", "star")
SPARSE = 0.5
"""Of the steps between the first value and the last: with fewer than these a metric is sampled."""


@dataclass(frozen=True, kw_only=True)
class Style:
    """Colour and marker. One pair has one meaning in a chart: run n has colour n and marker n, its ranks the same
    colour with the other markers. `shape` is None for a line without a marker of its own."""

    color: int
    shape: int | None
    is_pale: bool = False


def run_style(number: int) -> Style:
    return Style(color=number, shape=number % len(SHAPES))


def rank_styles(number: int) -> Iterator[Style]:
    """Yield the styles of the lines that belong to run `number`: as many with a marker as there are, then without."""
    for offset in range(1, len(SHAPES)):
        yield Style(color=number, shape=(number + offset) % len(SHAPES), is_pale=True)
    while True:
        yield Style(color=number, shape=None, is_pale=True)


@dataclass(frozen=True, kw_only=True)
class Before:
    """What an earlier run drew up to a step, where this one went on. Several are in the order of their steps."""

    series: Series
    end: int


@dataclass(frozen=True, kw_only=True)
class Line:
    """A curve of the chart. `style` stays the same in all charts."""

    name: str
    style: Style
    series: Series
    starts: tuple[int, ...] = ()
    before: tuple[Before, ...] = ()

    def last(self) -> tuple[int, float] | None:
        """Return the last point."""
        return self.series.point(-1) if len(self.series) else None

    def nearest(self, step: float) -> tuple[int, float] | None:
        """Return the point at a step, also where an earlier run drew it; None outside of all their steps."""
        for part in self.before:
            if step <= part.end:
                return within(part.series, step)
        return within(self.series, step)


def within(series: Series, step: float) -> tuple[int, float] | None:
    """Return the point nearest to a step that lies between the first and the last step of a series, else None."""
    is_inside = len(series) and series.point(0)[0] <= step <= series.point(-1)[0]
    return series.nearest(step) if is_inside else None


def is_sparse(series: Series) -> bool:
    """Tell whether a series has a value only now and then: a line between two of them would suggest the rest."""
    if len(series) < 2:
        return False
    return len(series) < SPARSE * (series.point(-1)[0] - series.point(0)[0] + 1)


def is_connected(steps: NDArray[np.float64]) -> bool:
    """Tell whether sparse points may be joined: they come at even distances, and there are more than a few."""
    gaps = np.diff(np.unique(steps))
    return len(gaps) > 3 and bool(gaps[1:-1].max() <= 1.5 * np.median(gaps))
