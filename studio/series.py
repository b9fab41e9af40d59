"""Curves as columns: steps, times and values of each metric in growing arrays, with a pyramid to draw from.

The only module of `studio` that needs numpy; imported where arrays are asked for.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from studio.events import Metric

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from studio.events import Event

FACTOR = 8
SMALLEST_LEVEL = 512


class Column:
    """An array that grows at its end by doubling; `data` is a view of what is filled."""

    def __init__(self, dtype: type) -> None:
        self._room = np.empty(1024, dtype)
        self.size = 0

    @property
    def data(self) -> NDArray[np.generic]:
        return self._room[: self.size]

    def extend(self, values: Sequence[object] | NDArray[np.generic]) -> None:
        end = self.size + len(values)
        if end > len(self._room):
            grown = np.empty(max(end, 2 * len(self._room)), self._room.dtype)
            grown[: self.size] = self.data
            self._room = grown
        self._room[self.size : end] = values
        self.size = end

    def cut(self, size: int) -> None:
        self.size = min(self.size, size)


class Series:
    """One metric of one rank. Steps (int64) never fall within an attempt as it is drawn; values are float64."""

    def __init__(self) -> None:
        self._steps, self._times, self._values = Column(np.int64), Column(np.int64), Column(np.float64)
        self._levels: list[tuple[Column, Column]] = []
        self._bad = Column(np.int64)
        self.attempt = 0
        self.starts: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return self._steps.size

    @property
    def steps(self) -> NDArray[np.int64]:
        return self._steps.data  # type: ignore[return-value]

    @property
    def times(self) -> NDArray[np.int64]:
        """ns since the epoch."""
        return self._times.data  # type: ignore[return-value]

    @property
    def values(self) -> NDArray[np.float64]:
        return self._values.data  # type: ignore[return-value]

    def extend(
        self, attempt: int, steps: Sequence[int], times: Sequence[int], values: Sequence[object]
    ) -> None:
        """Adds points. A later attempt that starts at step s hides earlier points from s on (`starts` keeps where);
        points of an earlier attempt that come late are hidden by the same rule."""
        new_steps = np.asarray(steps, np.int64)
        if attempt < self.attempt:
            keep = new_steps < min(start for number, start in self.starts if number > attempt)
            new_steps = new_steps[keep]
            times, values = np.asarray(times, np.int64)[keep], np.asarray(values, np.float64)[keep]
        elif attempt > self.attempt:
            self.attempt = attempt
            self.starts.append((attempt, int(new_steps.min())))
            self._cut(int(np.searchsorted(self.steps, new_steps.min(), "left")))
        unordered = bool(len(new_steps)) and (
            bool((new_steps[1:] < new_steps[:-1]).any()) or (len(self) > 0 and new_steps[0] < self.steps[-1])
        )
        begin = len(self)
        self._steps.extend(new_steps)
        self._times.extend(times)
        self._values.extend(values)
        self._bad.extend(begin + np.flatnonzero(~np.isfinite(self.values[begin:])))
        if unordered:
            self._sort()
        self._build()

    def _cut(self, size: int) -> None:
        for column in (self._steps, self._times, self._values):
            column.cut(size)
        for level, (low, high) in enumerate(self._levels, 1):
            low.cut(size // FACTOR**level)
            high.cut(size // FACTOR**level)
        self._bad.cut(int(np.searchsorted(self._bad.data, size, "left")))

    def _sort(self) -> None:
        """Some scripts log an evaluation under an earlier step: drawn in order of steps all the same."""
        order = np.argsort(self.steps, kind="stable")
        for column in (self._steps, self._times, self._values):
            column.data[:] = column.data[order]
        self._levels.clear()
        self._bad = Column(np.int64)
        self._bad.extend(np.flatnonzero(~np.isfinite(self.values)))

    def _build(self) -> None:
        low = high = self.values
        level = 0
        while len(low) // FACTOR >= SMALLEST_LEVEL or level < len(self._levels):
            if level == len(self._levels):
                self._levels.append((Column(np.float64), Column(np.float64)))
            lows, highs = self._levels[level]
            begin, end = lows.size, len(low) // FACTOR
            if end > begin:
                part = slice(begin * FACTOR, end * FACTOR)
                lows.extend(np.fmin.reduce(_drawable(low[part]).reshape(-1, FACTOR), 1))
                highs.extend(np.fmax.reduce(_drawable(high[part]).reshape(-1, FACTOR), 1))
            low, high = lows.data, highs.data  # type: ignore[assignment]
            level += 1

    def outline(
        self, begin: float, end: float, pixels: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """x (steps) and y to draw between two steps: every point where they are few, else the lowest and the highest
        of each of about `pixels` buckets. One point more on either side, so that lines leave the picture."""
        first = max(0, int(np.searchsorted(self.steps, begin, "left")) - 1)
        last = min(len(self), int(np.searchsorted(self.steps, end, "right")) + 1)
        if last - first <= 4 * pixels:
            return self.steps[first:last].astype(np.float64), _drawable(self.values[first:last])
        return self._buckets(first, last, pixels)

    def _buckets(self, first: int, last: int, pixels: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        width, low, high = 1, self.values, self.values
        for lows, highs in self._levels:
            if (last - first) / (width * FACTOR) < pixels:
                break
            width, low, high = width * FACTOR, lows.data, highs.data  # type: ignore[assignment]
        begin, end = first // width, min(-(-last // width), len(low))
        group = max(1, (end - begin) // pixels)
        whole = begin + (end - begin) // group * group
        lows_drawn = np.fmin.reduce(_drawable(low[begin:whole]).reshape(-1, group), 1)
        highs_drawn = np.fmax.reduce(_drawable(high[begin:whole]).reshape(-1, group), 1)
        x = self.steps[np.arange(begin, whole, group) * width]
        rest = _drawable(self.values[whole * width : last])
        if len(rest):
            lows_drawn = np.append(lows_drawn, np.fmin.reduce(rest))
            highs_drawn = np.append(highs_drawn, np.fmax.reduce(rest))
            x = np.append(x, self.steps[whole * width])
        return np.repeat(x, 2).astype(np.float64), np.stack((lows_drawn, highs_drawn), 1).reshape(-1)

    def gaps(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Steps and values (NaN, inf, -inf) that are no numbers: drawn as marks."""
        return self.steps[self._bad.data], self.values[self._bad.data]


def _drawable(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Infinite values as NaN: both leave a gap in the line."""
    return np.where(np.isfinite(values), values, np.nan)


class Curves:
    """All metrics of a run: `curves[rank, name]` is a Series. Fed with what `RunTail.read` yields."""

    def __init__(self) -> None:
        self.series: dict[tuple[int, str], Series] = {}

    def names(self) -> list[str]:
        return list(dict.fromkeys(name for _, name in self.series))

    def ranks(self) -> list[int]:
        return sorted({rank for rank, _ in self.series})

    def extend(self, attempt: int, rank: int, events: Iterable[Event]) -> set[str]:
        """Adds the metrics among events; returns the names that got points."""
        metrics = [event for event in events if isinstance(event, Metric)]
        shapes = dict.fromkeys(map(tuple, (metric.values for metric in metrics)))
        for name in dict.fromkeys(chain.from_iterable(shapes)):
            having = metrics if len(shapes) == 1 else [metric for metric in metrics if name in metric.values]
            series = self.series.get((rank, name))
            if series is None:
                series = self.series[rank, name] = Series()
            series.extend(
                attempt,
                [metric.step for metric in having],
                [metric.time for metric in having],
                np.array([metric.values[name] for metric in having], np.float64),
            )
        return {name for shape in shapes for name in shape}
