"""Curves as columns: steps and values of each metric in growing arrays, with a pyramid to draw from.

The only module of `studio` that needs numpy; imported where arrays are asked for.
"""

from __future__ import annotations

import math
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from studio.events import Metric

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from studio.events import Event

FACTOR = 8
SMALLEST_LEVEL = 512


class Column:
    """An array that grows at its end by doubling; `data` is a view of the filled part."""

    def __init__(self, dtype: type) -> None:
        self._room: NDArray[Any] = np.empty(64, dtype)
        self.size = 0

    @property
    def data(self) -> NDArray[np.generic]:
        return self._room[: self.size]

    def extend(self, values: NDArray[np.generic]) -> None:
        end = self.size + len(values)
        if end > len(self._room):
            self._grow(max(end, 2 * len(self._room)))
        self._room[self.size : end] = values
        self.size = end

    def _grow(self, room: int) -> None:
        """In place where nobody looks at the array: the kernel then moves its pages instead of copying them, which
        for a million points would hold the window up for 60 ms."""
        try:
            self._room.resize(room)
        except ValueError:
            grown = np.empty(room, self._room.dtype)
            grown[: self.size] = self.data
            self._room = grown

    def cut(self, size: int) -> None:
        self.size = min(self.size, size)


class Series:
    """One metric of one rank: int64 steps that never fall, float64 values, and a min/max pyramid over the values.

    Level k of the pyramid holds the lowest and highest finite value of each FACTOR**k points.
    """

    def __init__(self) -> None:
        self._steps, self._values = Column(np.int64), Column(np.float64)
        self._levels: list[tuple[Column, Column]] = []
        self._bad = Column(np.int64)

    def __len__(self) -> int:
        return self._steps.size

    @property
    def steps(self) -> NDArray[np.int64]:
        return self._steps.data  # type: ignore[return-value]

    @property
    def values(self) -> NDArray[np.float64]:
        return self._values.data  # type: ignore[return-value]

    def extend(self, steps: ArrayLike, values: ArrayLike) -> None:
        """Add points. A point of an earlier step, as some scripts log an evaluation, is put behind the points of the
        same step.
        """
        new_steps, new_values = np.asarray(steps, np.int64), np.asarray(values, np.float64)
        if not len(new_steps):
            return
        begin = len(self)
        falls = bool((new_steps[1:] < new_steps[:-1]).any()) or (begin > 0 and new_steps[0] < self.steps[-1])
        if falls:
            begin = self._index_of(int(new_steps.min()), "right")
            new_steps = np.concatenate((self.steps[begin:], new_steps))
            new_values = np.concatenate((self.values[begin:], new_values))
            order = np.argsort(new_steps, kind="stable")
            new_steps, new_values = new_steps[order], new_values[order]
            self._cut(begin)
        self._steps.extend(new_steps)
        self._values.extend(new_values)
        self._bad.extend(begin + np.flatnonzero(~np.isfinite(new_values)))
        self._build()

    def hide_from(self, step: int) -> None:
        """Remove the points from a step on: a later attempt repeats them."""
        self._cut(self._index_of(step, "left"))

    def _cut(self, size: int) -> None:
        self._steps.cut(size)
        self._values.cut(size)
        for level, (low, high) in enumerate(self._levels, 1):
            low.cut(size // FACTOR**level)
            high.cut(size // FACTOR**level)
        self._bad.cut(int(np.searchsorted(self._bad.data, size, "left")))

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

    def outline(self, begin: float, end: float, pixels: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return x (steps) and y to draw between two steps: every point where they are few, else the lowest and the
        highest of each of about `pixels` buckets. One more point on either side lets lines leave the picture.
        """
        first, last = self._between(begin, end)
        first, last = max(0, first - 1), min(len(self), last + 1)
        pixels = max(1, pixels)
        if last - first <= 4 * pixels:
            return self.steps[first:last].astype(np.float64), _drawable(self.values[first:last])
        return self._buckets(first, last, pixels)

    def _between(self, begin: float, end: float) -> tuple[int, int]:
        return self._index_of(_whole(begin, math.ceil), "left"), self._index_of(_whole(end, math.floor), "right")

    def _index_of(self, step: int, side: Literal["left", "right"]) -> int:
        """Return the index of a step, or where it would be. The search is in int64: a float would have numpy convert
        the whole array first.
        """
        return int(np.searchsorted(self.steps, np.int64(step), side))

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

    def nearest(self, step: float) -> tuple[int, float] | None:
        """Return the point whose step is nearest; the last one of several at the same step."""
        if not len(self):
            return None
        after = min(self._index_of(_whole(step, math.ceil), "left"), len(self) - 1)
        before = max(0, after - 1)
        chosen = self.steps[before if step - self.steps[before] <= self.steps[after] - step else after]
        index = self._index_of(int(chosen), "right") - 1
        return int(chosen), float(self.values[index])

    def smallest(self) -> tuple[int, float] | None:
        """Return step and value of the lowest finite value; the pyramid makes this cheap on every frame."""
        index, value = self._lowest(0, len(self), len(self._levels))
        return None if index < 0 else (int(self.steps[index]), value)

    def _lowest(self, begin: int, end: int, level: int) -> tuple[int, float]:
        """Return index and value of the lowest point in [begin, end) of a level's buckets that reach to the end, (-1,
        inf) where none is finite. Above the whole buckets of a level there are points that it does not cover yet.
        """
        best = (-1, float("inf"))
        for number in range(level, -1, -1):
            width = FACTOR**number
            low = self.values if number == 0 else self._levels[number - 1][0].data
            part = _drawable(low[begin // width : end // width])  # type: ignore[arg-type]
            if len(part) and not np.isnan(part).all():
                index = int(np.nanargmin(part))
                if part[index] < best[1]:
                    start = (begin // width + index) * width
                    inner = start if number == 0 else self._lowest(start, start + width, number - 1)[0]
                    best = (inner, float(part[index]))
            begin = max(begin, end // width * width)
        return best

    def gaps(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return steps and values (NaN, inf, -inf) that are not finite: they are drawn as marks."""
        return self.steps[self._bad.data], self.values[self._bad.data]


def _whole(step: float, toward: Callable[[float], int]) -> int:
    """Return a step as int64, however far outside its range."""
    return toward(min(max(step, -(2.0**62)), 2.0**62))


def _drawable(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values with NaN for infinities: both leave a gap in the line."""
    return np.where(np.isfinite(values), values, np.nan)


class Curves:
    """All metrics of a run: `series[rank, name]`, fed with what `RunTail.read` yields.

    A later attempt that starts at step s hides the points of earlier ones from s on, of every metric of its rank.
    """

    def __init__(self) -> None:
        self.series: dict[tuple[int, str], Series] = {}
        self._starts: dict[int, dict[int, int]] = {}

    def names(self) -> list[str]:
        return list(dict.fromkeys(name for _, name in self.series))

    def ranks(self) -> list[int]:
        return sorted({rank for rank, _ in self.series})

    def starts(self, rank: int = 0) -> dict[int, int]:
        """Return the first step of each attempt."""
        return self._starts.get(rank, {})

    def extend(self, attempt: int, rank: int, events: list[Event]) -> set[str]:
        """Add the metrics among events; return the names that got points."""
        metrics = _metrics(events)
        if metrics:
            self._begin(rank, attempt, metrics[0].step)
            metrics = self._visible_metrics(rank, attempt, metrics)
        if not metrics:
            return set()
        steps = np.array(list(map(attrgetter("step"), metrics)), np.int64)
        columns = _columns(list(map(attrgetter("values"), metrics)))
        for name, (places, values) in columns.items():
            series = self.series.get((rank, name))
            if series is None:
                series = self.series[rank, name] = Series()
            series.extend(steps if places is None else steps[places], values)
        return set(columns)

    def _begin(self, rank: int, attempt: int, step: int) -> None:
        starts = self._starts.setdefault(rank, {})
        if attempt in starts:
            return
        if starts and attempt > max(starts):
            for (of_rank, _), series in self.series.items():
                if of_rank == rank:
                    series.hide_from(step)
        starts[attempt] = step

    def _visible_metrics(self, rank: int, attempt: int, metrics: list[Metric]) -> list[Metric]:
        """Return the metrics without late points of an earlier attempt, which the later attempt hides."""
        later_starts = [step for number, step in self._starts[rank].items() if number > attempt]
        return [metric for metric in metrics if metric.step < min(later_starts)] if later_starts else metrics


def _metrics(events: list[Event]) -> list[Metric]:
    """Return the metrics among events. Where all are metrics, as in most batches, no list is made."""
    if list(map(type, events)).count(Metric) == len(events):
        return events  # type: ignore[return-value]
    return [event for event in events if type(event) is Metric]


def _columns(
    rows: list[dict[str, object]],
) -> dict[str, tuple[NDArray[np.int64] | None, NDArray[np.float64]]]:
    """Return the values by name, each with the numbers of the rows that have it, or None for all rows. A million rows
    go through here while a run is opened: rows of one shape take no Python step per row.
    """
    names = list(rows[0])
    if set(map(len, rows)) == {len(names)}:
        try:
            return {name: (None, _array(list(map(itemgetter(name), rows)))) for name in names}
        except KeyError:
            pass
    columns: dict[str, tuple[list[int], list[object]]] = {}
    for number, row in enumerate(rows):
        for name, value in row.items():
            places, values = columns.setdefault(name, ([], []))
            places.append(number)
            values.append(value)
    return {name: (np.array(places, np.int64), _array(values)) for name, (places, values) in columns.items()}


def _array(values: list[object]) -> NDArray[np.float64]:
    """Return floats, also from the strings that stand for non-finite ones."""
    return np.array(values, np.float64)
