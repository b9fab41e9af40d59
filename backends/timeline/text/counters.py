"""Counter events as samples: one series for each figure of an event, in its process. Kineto's "[memory]" instants give
series of what the allocator holds."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from itertools import chain, compress, count, islice, repeat
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from backends.timeline.text.event import clean
from backends.timeline.text.lanes import arguments_of, id_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from backends.timeline.gathering import Gathering
    from backends.timeline.text.event import Event
    from backends.timeline.text.event_classes import Classes
    from backends.timeline.text.lanes import Lanes


# class and name, keys of the arguments, whose they are
Group = tuple[tuple[int, str | None], tuple[str, ...], float | None]

BAD_VALUE = "timeline.aside.bad_value"
UNIT_AS_KEY = frozenset({"MHz", "KB", "MB", "GB", "B", "%", "MB/s", "GB/s", "W", "C"})
WHOSE = "acc_id"  # of Acc PMU: which accelerator, no figure

_UNIT = re.compile(r"(.+?)\s*\(([^()]{1,12})\)")
_figures = msgspec.json.Decoder(list[dict[str, float]]).decode


class Counters:
    def __init__(self, gather: Gathering, source: int, lanes: Lanes, classes: Classes) -> None:
        self._gather = gather
        self._source = source
        self._lanes = lanes
        self._classes = classes
        self._groups: defaultdict[Group, int] = defaultdict(count().__next__)
        self._widths = np.empty(0, np.int64)
        self._begins = np.empty(0, np.int64)
        self._series = np.empty(0, np.int32)
        self._keys: dict[tuple[str, str], tuple[str | None, str, float | None]] = {}

    def take(self, events: Sequence[Event], classes: NDArray[np.int64], times: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Add the samples of events of phase C; return which events have one. Those without are set aside."""
        figures = event_figures(events)
        has_figures = np.ones(len(figures), np.bool_)
        if not all(figures):
            has_figures = np.fromiter(map(bool, figures), np.bool_, len(figures))
            self._gather.set_aside[BAD_VALUE] += int((~has_figures).sum())
            events, figures = list(compress(events, has_figures.tolist())), [each for each in figures if each]
        if figures:
            names = [event.name for event in events]
            self._add(zip(classes[has_figures].tolist(), names, strict=True), figures, times[has_figures])
        return has_figures

    def _add(
        self, named: Iterable[tuple[int, str | None]], figures: list[dict[str, float]], times: NDArray[np.int64]
    ) -> None:
        keyed = zip(named, map(tuple, figures), map(dict.get, figures, repeat(WHOSE)), strict=True)
        groups = np.fromiter(map(self._groups.__getitem__, keyed), np.int64, len(figures))
        self._learn()
        widths = self._widths[groups]
        total = int(widths.sum())
        values = np.fromiter(chain.from_iterable(map(dict.values, figures)), np.float64, total)
        inside = np.arange(total) - np.repeat(np.cumsum(widths) - widths, widths)
        series = self._series[np.repeat(self._begins[groups], widths) + inside]
        is_figure = series >= 0
        self._gather.samples.append((series[is_figure], np.repeat(times, widths)[is_figure], values[is_figure]))

    def _learn(self) -> None:
        new = list(islice(reversed(self._groups), len(self._groups) - self._widths.size))[::-1]
        if not new:
            return
        series = [self._number(group, key) for group in new for key in group[1]]
        widths = np.array([len(group[1]) for group in new], np.int64)
        begins = self._series.size + np.cumsum(widths) - widths
        self._series = np.concatenate([self._series, np.array(series, np.int32)])
        self._widths = np.concatenate([self._widths, widths])
        self._begins = np.concatenate([self._begins, begins])

    def _number(self, group: Group, key: str) -> int:
        (number, name), keys, whose = group
        if key == WHOSE and len(keys) > 1:
            return -1
        pid = self._classes.pid(number)
        return self.series(pid, *self._named(pid, name, key, whose))

    def _named(self, pid: str, name: str | None, key: str, whose: float | None) -> tuple[str, str]:
        """Return name and unit of a series; the name is short unless another figure of the process has the short name
        already."""
        short, unit = _short(name or "", key)
        short += "" if whose is None else f" {whose:g}"
        if self._keys.setdefault((pid, short), (name, key, whose)) == (name, key, whose):
            return short, unit
        return f"{name or ''} {key} {'' if whose is None else whose}".strip(), unit

    def series(self, pid: str, name: str, unit: str) -> int:
        self._lanes.process(pid)
        return self._gather.series_of(self._source, pid, clean(name), clean(unit))


def _short(name: str, key: str) -> tuple[str, str]:
    if key in UNIT_AS_KEY:
        return name or key, key
    match = _UNIT.fullmatch(key)
    figure, unit = (match[1], match[2]) if match else (key, "")
    alike = figure in ("value", name) or name.endswith(("/" + figure, " " + figure))
    return (name if alike else f"{name} {figure}".strip()), unit


def event_figures(events: Sequence[Event]) -> list[dict[str, float]]:
    """Return the finite numbers in each event's arguments; an empty dict where there are none."""
    literals = [event.args for event in events]
    try:
        return _figures(b"[" + b",".join(literals) + b"]") if all(literals) else _each_figures(literals)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return _each_figures(literals)


def _each_figures(literals: Sequence[msgspec.Raw]) -> list[dict[str, float]]:
    return [_figures_of(bytes(literal)) for literal in literals]


def _figures_of(literal: bytes) -> dict[str, float]:
    try:
        arguments = json.loads(literal.decode("utf-8", "replace") or "{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(arguments, dict):
        return {}
    figures = {clean(key): number_of(value) for key, value in arguments.items()}
    return {key: value for key, value in figures.items() if np.isfinite(value)}


def number_of(value: Any) -> float:
    try:
        return float(value) if isinstance(value, (int, float, str)) else np.nan
    except (ValueError, OverflowError):
        return np.nan


MEMORY_EVENT = "[memory]"
FIGURES = ("Total Allocated", "Total Reserved")
_DEVICES = {0: "CPU", 1: "cuda", 20: "npu"}  # c10/core/DeviceType.h; 20 is PrivateUse1


def take_memory(gather: Gathering, counters: Counters, events: Iterable[tuple[Event, int]]) -> None:
    """Add the samples of memory instants. `events`: with their times in ns."""
    samples = [sample for event, time in events for sample in _samples(counters, event, time)]
    if samples:
        series, times, values = zip(*samples, strict=True)
        gather.samples.append((np.array(series, np.int32), np.array(times, np.int64), np.array(values)))


def _samples(counters: Counters, event: Event, time: int) -> Iterable[tuple[int, int, float]]:
    arguments = arguments_of(event)
    device = _device(arguments)
    for figure in FIGURES:
        value = number_of(arguments.get(figure))
        if np.isfinite(value):
            yield counters.series(id_text(event.pid), f"{figure} ({device})", "B"), time, value


def _device(arguments: dict[str, Any]) -> str:
    kind, number = arguments.get("Device Type"), arguments.get("Device Id")
    name = _DEVICES.get(kind, f"device {kind}") if isinstance(kind, int) else "device"
    return name if number in (None, -1) else f"{name}:{number}"
