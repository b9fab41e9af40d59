"""Overlap Analysis, which only the text export contains: computed here as the profiler does, from kernels and
communication operators of each device, between the first and the last of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.db.lanes import COMPUTED
from backends.timeline.db.lookup import coded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.timeline.db.device import Tasks
    from backends.timeline.db.host import Calls
    from backends.timeline.db.lanes import DbLanes

    Numbers = NDArray[np.int64]
    Spans = tuple[Numbers, Numbers]

OVERLAP_NAMES = ("Computing", "Communication", "Communication(Not Overlapped)", "Free")


def add_overlap(places: DbLanes, tasks: Tasks, operations: Calls) -> None:
    compute, communication = _by_device(tasks.compute), _by_device(operations)
    nothing = np.empty(0, np.int64), np.empty(0, np.int64)
    for device in sorted(compute.keys() | communication.keys()):
        spans = overlap(compute.get(device, nothing), communication.get(device, nothing))
        for number, (start, end) in enumerate(spans):
            _add(places, device, number, start, end)


def _by_device(calls: Calls) -> dict[int, Spans]:
    devices, codes = coded(calls["deviceId"])
    start, end = calls["startNs"], calls["endNs"]
    if len(devices) > 1:
        order = np.argsort(codes, kind="stable")
        start, end, codes = start[order], end[order], codes[order]
    bounds = np.searchsorted(codes, np.arange(len(devices) + 1)).tolist()
    parts = zip(devices.tolist(), bounds[:-1], bounds[1:], strict=True)
    return {device: (start[begin:stop], end[begin:stop]) for device, begin, stop in parts}


def overlap(compute: Spans, communication: Spans) -> tuple[Spans, Spans, Spans, Spans]:
    """Return the spans in the order of OVERLAP_NAMES."""
    computing, communicating = merged(*compute), merged(*communication)
    busy = merged(np.concatenate([computing[0], communicating[0]]), np.concatenate([computing[1], communicating[1]]))
    return computing, communicating, subtract_spans(communicating, computing), (busy[1][:-1], busy[0][1:])


def merged(start: Numbers, end: Numbers) -> Spans:
    """Return the union: spans that overlap or touch become one."""
    if not len(start):
        return start, end
    if not (start[1:] >= start[:-1]).all():
        order = np.argsort(start, kind="stable")
        start, end = start[order], end[order]
    reached = np.maximum.accumulate(end)
    first = np.append(True, start[1:] > reached[:-1])
    return start[first], reached[np.append(np.flatnonzero(first)[1:] - 1, len(start) - 1)]


def subtract_spans(spans: Spans, others: Spans) -> Spans:
    """Return what is left of `spans` without `others`; both are unions."""
    if not len(spans[0]) or not len(others[0]):
        return spans
    start = np.concatenate([spans[0], others[1]])
    # After each of these points: up to the next edge of either, where inside of spans and outside of others.
    edges = np.unique(np.concatenate([*spans, *others]))
    inside = np.searchsorted(spans[0], start, "right") > np.searchsorted(spans[1], start, "right")
    outside = np.searchsorted(others[0], start, "right") <= np.searchsorted(others[1], start, "right")
    start = np.unique(start[inside & outside])
    return start, edges[np.searchsorted(edges, start, "right")]


def _add(places: DbLanes, device: int, number: int, start: Numbers, end: Numbers) -> None:
    if not len(start):
        return
    name = OVERLAP_NAMES[number]
    pid = places.device("Overlap Analysis", device)
    lane = places.lane(pid, str(number), name, COMPUTED, "overlap", number)
    ones = np.ones(len(start), np.int32)
    columns = (ones * lane, start, end, ones * places.gather.names[name], np.arange(len(start)))
    places.gather.slices.append(columns)
