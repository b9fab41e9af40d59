"""Kineto's "[memory]" instants as curves: what the allocator holds of a device after each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from backends.timeline.text.counters import number_of
from backends.timeline.text.lanes import arguments_of, name_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.timeline.gather import Gather
    from backends.timeline.text.counters import Counters
    from backends.timeline.text.event import Event

NAME = "[memory]"
FIGURES = ("Total Allocated", "Total Reserved")
_DEVICES = {0: "CPU", 1: "cuda", 20: "npu"}  # c10/core/DeviceType.h; 20 is PrivateUse1


def take_memory(gather: Gather, counters: Counters, events: Iterable[tuple[Event, int]]) -> None:
    """`events`: with their times in ns."""
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
            yield counters.series(name_of(event.pid), f"{figure} ({device})", "B"), time, value


def _device(arguments: dict[str, Any]) -> str:
    kind, number = arguments.get("Device Type"), arguments.get("Device Id")
    name = _DEVICES.get(kind, f"device {kind}") if isinstance(kind, int) else "device"
    return name if number in (None, -1) else f"{name}:{number}"
