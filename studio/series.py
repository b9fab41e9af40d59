"""Curves as columns: steps and values of each metric, with a pyramid to draw from.

This and `studio.columns` are the only modules of `studio` that need numpy; imported where arrays are asked for.
"""

from __future__ import annotations

import functools
import math
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Literal

import numpy as np

from studio.columns import BlockFile, Column
from studio.events import Metric

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from studio.events import Event

FACTOR = 8
SMALLEST_LEVEL = 512


class Series:
    """One metric of one rank: int64 steps that never fall, float64 values, and a min/max pyramid over the values.

    Level k of the pyramid holds the lowest and highest finite value of each FACTOR**k points, and their first step.
    With a `file` a long series takes no more memory than a short one.
    """

    def __init__(self, file: BlockFile | None = None) -> None:
        self._file = file
        self._points = _Level(file)
        self._levels: list[_Level] = []
        self._bad = Column(np.int64, file)
        self.removals = 0

    def __len__(self) -> int:
        return self._points.steps.size

    @property
    def steps(self) -> NDArray[np.int64]:
        """A copy of all steps: for what needs each of them, not for a frame."""
        return self._points.steps.read(0, len(self))

    @property
    def values(self) -> NDArray[np.float64]:
        """A copy of all values."""
        return self._points.low.read(0, len(self))

    def point(self, index: int) -> tuple[int, float]:
        """Return step and value of a point; -1 is the last one, as in a list."""
        index += len(self) if index < 0 else 0
        return self._points.steps.item(index), self._points.low.item(index)

    def last_values(self, number: int) -> NDArray[np.float64]:
        """Return so many values of the end, or all there are."""
        return self._points.low.read(max(0, len(self) - number), len(self))

    def extend(self, steps: ArrayLike, values: ArrayLike) -> None:
        """Add points. A point of an earlier step, as some scripts log an evaluation, is put behind the points of the
        same step.
        """
        new_steps, new_values = np.asarray(steps, np.int64), np.asarray(values, np.float64)
        if not len(new_steps):
            return
        begin = len(self)
        falls = bool((new_steps[1:] < new_steps[:-1]).any()) or (begin > 0 and new_steps[0] < self.point(-1)[0])
        if falls:
            begin = self._index_of(int(new_steps.min()), "right")
            new_steps = np.concatenate((self._points.steps.read(begin, len(self)), new_steps))
            new_values = np.concatenate((self._points.low.read(begin, len(self)), new_values))
            order = np.argsort(new_steps, kind="stable")
            new_steps, new_values = new_steps[order], new_values[order]
            self._cut(begin)
        self._points.steps.extend(new_steps)
        self._points.low.extend(new_values)
        self._bad.extend(begin + np.flatnonzero(~np.isfinite(new_values)))
        self._build()

    def between(self, after: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the points of the steps behind `after` up to `end`, of several at one step the last."""
        first, last = self._index_of(after + 1, "left"), self._index_of(end, "right")
        steps, values = self._points.steps.read(first, last), self._points.low.read(first, last)
        is_last = np.append(steps[1:] != steps[:-1], True)[: len(steps)]
        return steps[is_last], values[is_last]

    def hide_from(self, step: int) -> None:
        """Remove the points from a step on: a later attempt repeats them."""
        self.removals += 1
        self._cut(self._index_of(step, "left"))

    def _cut(self, size: int) -> None:
        for number, level in enumerate((self._points, *self._levels)):
            level.cut(size // FACTOR**number)
        self._bad.cut(self._bad.search(size, "left"))

    def _build(self) -> None:
        below = self._points
        number = 0
        while below.steps.size // FACTOR >= SMALLEST_LEVEL or number < len(self._levels):
            if number == len(self._levels):
                self._levels.append(_Level(self._file, high=Column(np.float64, self._file)))
            level = self._levels[number]
            begin, end = level.steps.size * FACTOR, below.steps.size // FACTOR * FACTOR
            if end > begin:
                low, high = below.bounds(begin, end)
                level.low.extend(np.fmin.reduce(low.reshape(-1, FACTOR), 1))
                level.high.extend(np.fmax.reduce(high.reshape(-1, FACTOR), 1))
                level.steps.extend(below.steps.read(begin, end)[::FACTOR])
            below = level
            number += 1

    def outline(self, begin: float, end: float, pixels: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return x (steps) and y to draw between two steps: every point where they are few, else the lowest and the
        highest of each of about `pixels` buckets. One more point on either side lets lines leave the picture.
        """
        first, last = self._between(begin, end)
        first, last = max(0, first - 1), min(len(self), last + 1)
        pixels = max(1, pixels)
        if last - first <= 4 * pixels:
            points = self._points
            return points.steps.read(first, last).astype(np.float64), _drawable(points.low.read(first, last))
        return self._buckets(first, last, pixels)

    def _between(self, begin: float, end: float) -> tuple[int, int]:
        return self._index_of(_whole(begin, math.ceil), "left"), self._index_of(_whole(end, math.floor), "right")

    def _index_of(self, step: int, side: Literal["left", "right"]) -> int:
        """Return the index of a step, or where it would be."""
        return self._points.steps.search(step, side)

    def _buckets(self, first: int, last: int, pixels: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        width, level = 1, self._points
        for coarser in self._levels:
            if (last - first) / (width * FACTOR) < pixels:
                break
            width, level = width * FACTOR, coarser
        begin, end = first // width, min(-(-last // width), level.steps.size)
        group = max(1, (end - begin) // pixels)
        whole = begin + (end - begin) // group * group
        low, high = level.bounds(begin, whole)
        lows, highs = np.fmin.reduce(low.reshape(-1, group), 1), np.fmax.reduce(high.reshape(-1, group), 1)
        x = level.steps.read(begin, whole)[::group]
        rest = _drawable(self._points.low.read(whole * width, last))
        if len(rest):
            lows, highs = np.append(lows, np.fmin.reduce(rest)), np.append(highs, np.fmax.reduce(rest))
            x = np.append(x, self._points.steps.item(whole * width))
        return np.repeat(x, 2).astype(np.float64), np.stack((lows, highs), 1).reshape(-1)

    def nearest(self, step: float) -> tuple[int, float] | None:
        """Return the point whose step is nearest; the last one of several at the same step."""
        if not len(self):
            return None
        after = min(self._index_of(_whole(step, math.ceil), "left"), len(self) - 1)
        before, following = self.point(max(0, after - 1))[0], self.point(after)[0]
        chosen = before if step - before <= following - step else following
        return self.point(self._index_of(chosen, "right") - 1)

    def smallest(self) -> tuple[int, float] | None:
        """Return step and value of the lowest finite value; the pyramid makes this cheap on every frame."""
        index, value = self._lowest(0, len(self), len(self._levels))
        return None if index < 0 else (self._points.steps.item(index), value)

    def _lowest(self, begin: int, end: int, level: int) -> tuple[int, float]:
        """Return index and value of the lowest point in [begin, end) of a level's buckets that reach to the end, (-1,
        inf) where none is finite. Above the whole buckets of a level there are points that it does not cover yet.
        """
        best = (-1, float("inf"))
        for number in range(level, -1, -1):
            width = FACTOR**number
            low = (self._points, *self._levels)[number].low
            part = _drawable(low.read(begin // width, end // width))
            lowest = float(np.fmin.reduce(part, initial=best[1]))
            if lowest < best[1]:
                start = (begin // width + int(np.argmax(part == lowest))) * width
                inner = start if number == 0 else self._lowest(start, start + width, number - 1)[0]
                best = (inner, lowest)
            begin = max(begin, end // width * width)
        return best

    def gaps(self, begin: float, end: float, number: int) -> list[tuple[int, float]]:
        """Return points between two steps whose values are not finite (NaN, inf, -inf), which are drawn as marks: all
        of them, or of many about `number`, evenly.
        """
        first, last = (self._bad.search(index, "left") for index in self._between(begin, end))
        every = max(1, (last - first) // number)
        return [self.point(self._bad.item(index)) for index in range(first, last, every)]


class _Level:
    """Columns of the pyramid; those of the points have one value for both bounds."""

    def __init__(self, file: BlockFile | None, high: Column | None = None) -> None:
        self.steps, self.low = Column(np.int64, file), Column(np.float64, file)
        self.high = self.low if high is None else high

    def bounds(self, begin: int, end: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the lowest and the highest values from `begin` to `end`, NaN where none is finite."""
        if self.high is self.low:
            values = _drawable(self.low.read(begin, end))
            return values, values
        return self.low.read(begin, end), self.high.read(begin, end)

    def cut(self, size: int) -> None:
        for column in (self.steps, self.low, self.high):
            column.cut(size)


def _whole(step: float, toward: Callable[[float], int]) -> int:
    """Return a step as int64, however far outside its range."""
    return toward(min(max(step, -(2.0**62)), 2.0**62))


def _drawable(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values with NaN for infinities: both leave a gap in the line."""
    return np.where(np.isfinite(values), values, np.nan)


class Curves:
    """All metrics of a run: `series[rank, name]`, fed with what `RunTail.read` yields.

    A later attempt that starts at step s hides the points of earlier ones from s on, of every metric of its rank. Two
    processes of one attempt that claim the same rank are kept apart where their steps overlap: the first one is the
    rank's, others are `processes[rank, pid, name]`. A run may write for days: all but the newest points lie in a file
    of the cache.
    """

    def __init__(self) -> None:
        self._file = BlockFile()
        self.series: dict[tuple[int, str], Series] = {}
        self.processes: dict[tuple[int, int, str], Series] = {}
        self._starts: dict[int, dict[int, int]] = {}
        self._writers: dict[tuple[int, str], tuple[int, int]] = {}
        self._means: dict[str, _Mean] = {}

    def names(self) -> list[str]:
        return list(dict.fromkeys(name for _, name in self.series))

    def ranks(self) -> list[int]:
        return sorted({rank for rank, _ in self.series})

    def every_series(self) -> list[Series]:
        """Return the series of all ranks and processes."""
        return [*self.series.values(), *self.processes.values()]

    def mean(self, name: str) -> Series | None:
        """Return the mean of a metric over all ranks, at the steps that all of them have; None where one rank alone has
        it, and where two processes claim one rank."""
        parts = [series for (_, of_name), series in self.series.items() if of_name == name]
        if len(parts) < 2 or any(of_name == name for _, _, of_name in self.processes):
            return None
        return self._means.setdefault(name, _Mean(self._file)).of(parts)

    def starts(self, rank: int = 0) -> dict[int, int]:
        """Return the first step of each attempt."""
        return self._starts.get(rank, {})

    def extend(self, attempt: int, rank: int, events: list[Event], pid: int = 0) -> set[str]:
        """Add the metrics among events of one process; return the names that got points."""
        metrics = _metrics(events)
        if metrics:
            self._begin(rank, attempt, metrics[0].step)
            metrics = self._visible_metrics(rank, attempt, metrics)
        if not metrics:
            return set()
        steps = np.array(list(map(attrgetter("step"), metrics)), np.int64)
        columns = _columns(list(map(attrgetter("values"), metrics)))
        for name, (places, values) in columns.items():
            own_steps = steps if places is None else steps[places]
            self._series(attempt, rank, pid, name, int(own_steps[0])).extend(own_steps, values)
        return set(columns)

    def _series(self, attempt: int, rank: int, pid: int, name: str, step: int) -> Series:
        """Return where a process's values from `step` on belong."""
        series = self.series.get((rank, name))
        if series is None:
            series = self.series[rank, name] = Series(self._file)
        writer = self._writers.setdefault((rank, name), (attempt, pid))
        if writer == (attempt, pid) or attempt < writer[0]:
            return series
        process = self.processes.get((rank, pid, name))
        if process is not None:
            return process
        if attempt > writer[0] or not len(series) or step > series.point(-1)[0]:
            self._writers[rank, name] = (attempt, pid)  # it goes on where the other one ended
            return series
        process = self.processes[rank, pid, name] = Series(self._file)
        return process

    def _begin(self, rank: int, attempt: int, step: int) -> None:
        starts = self._starts.setdefault(rank, {})
        if attempt in starts:
            return
        if starts and attempt > max(starts):
            for (of_rank, *_), series in [*self.series.items(), *self.processes.items()]:
                if of_rank == rank:
                    series.hide_from(step)
        starts[attempt] = step

    def _visible_metrics(self, rank: int, attempt: int, metrics: list[Metric]) -> list[Metric]:
        """Return the metrics without late points of an earlier attempt, which the later attempt hides."""
        later_starts = [step for number, step in self._starts[rank].items() if number > attempt]
        return [metric for metric in metrics if metric.step < min(later_starts)] if later_starts else metrics


class _Mean:
    """The mean of several series at the steps that all have, as far as all have come."""

    def __init__(self, file: BlockFile | None) -> None:
        self._file = file
        self._basis: list[tuple[int, int]] = []
        self._series = Series(file)

    def of(self, parts: list[Series]) -> Series:
        """Return the mean with what is new; it begins anew where a part came or lost points."""
        basis = [(id(part), part.removals) for part in parts]
        if basis != self._basis:
            self._basis, self._series = basis, Series(self._file)
        done = self._series.point(-1)[0] if len(self._series) else -(2**62)
        end = min((part.point(-1)[0] if len(part) else done) for part in parts)
        if end > done:
            self._series.extend(*_mean_of([part.between(done, end) for part in parts]))
        return self._series


def _mean_of(parts: list[tuple[NDArray[np.int64], NDArray[np.float64]]]) -> tuple[ArrayLike, ArrayLike]:
    """Return the steps that all parts have, and the mean of their values there."""
    common = functools.reduce(functools.partial(np.intersect1d, assume_unique=True), (steps for steps, _ in parts))
    total = sum(values[np.searchsorted(steps, common)] for steps, values in parts)
    return common, total / len(parts)


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
