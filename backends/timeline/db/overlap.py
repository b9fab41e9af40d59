"""Overlap Analysis, which only the text export holds: computed here as the profiler does, from kernels and
communications of each card, between the first and the last of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.db.lookup import coded
from backends.timeline.db.place import COMPUTED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.timeline.db.device import Tasks
    from backends.timeline.db.host import Calls
    from backends.timeline.db.place import Places

    Numbers = NDArray[np.int64]
    Spans = tuple[Numbers, Numbers]

NAMES = ("Computing", "Communication", "Communication(Not Overlapped)", "Free")


def add_overlap(places: Places, tasks: Tasks, operations: Calls) -> None:
    compute, communication = _by_card(tasks.compute), _by_card(operations)
    nothing = np.empty(0, np.int64), np.empty(0, np.int64)
    for card in sorted(compute.keys() | communication.keys()):
        spans = overlap(compute.get(card, nothing), communication.get(card, nothing))
        for number, (start, end) in enumerate(spans):
            _add(places, card, number, start, end)


def _by_card(calls: Calls) -> dict[int, Spans]:
    cards, codes = coded(calls["deviceId"])
    start, end = calls["startNs"], calls["endNs"]
    if len(cards) > 1:
        order = np.argsort(codes, kind="stable")
        start, end, codes = start[order], end[order], codes[order]
    bounds = np.searchsorted(codes, np.arange(len(cards) + 1)).tolist()
    parts = zip(cards.tolist(), bounds[:-1], bounds[1:], strict=True)
    return {card: (start[begin:stop], end[begin:stop]) for card, begin, stop in parts}


def overlap(compute: Spans, communication: Spans) -> tuple[Spans, Spans, Spans, Spans]:
    """In the order of NAMES."""
    computing, communicating = merged(*compute), merged(*communication)
    busy = merged(np.concatenate([computing[0], communicating[0]]), np.concatenate([computing[1], communicating[1]]))
    return computing, communicating, without(communicating, computing), (busy[1][:-1], busy[0][1:])


def merged(start: Numbers, end: Numbers) -> Spans:
    """The union: spans that overlap or touch are one."""
    if not len(start):
        return start, end
    if not (start[1:] >= start[:-1]).all():
        order = np.argsort(start, kind="stable")
        start, end = start[order], end[order]
    reached = np.maximum.accumulate(end)
    first = np.append(True, start[1:] > reached[:-1])
    return start[first], reached[np.append(np.flatnonzero(first)[1:] - 1, len(start) - 1)]


def without(spans: Spans, others: Spans) -> Spans:
    """What is left of spans beside others; each a union."""
    if not len(spans[0]) or not len(others[0]):
        return spans
    start = np.concatenate([spans[0], others[1]])
    # After each of these points: up to the next edge of either, where inside of spans and outside of others.
    edges = np.unique(np.concatenate([*spans, *others]))
    inside = np.searchsorted(spans[0], start, "right") > np.searchsorted(spans[1], start, "right")
    outside = np.searchsorted(others[0], start, "right") <= np.searchsorted(others[1], start, "right")
    start = np.unique(start[inside & outside])
    return start, edges[np.searchsorted(edges, start, "right")]


def _add(places: Places, card: int, number: int, start: Numbers, end: Numbers) -> None:
    if not len(start):
        return
    name = NAMES[number]
    pid = places.device("Overlap Analysis", card)
    lane = places.lane(pid, str(number), name, COMPUTED, "overlap", number)
    ones = np.ones(len(start), np.int32)
    columns = (ones * lane, start, end, ones * places.gather.names[name], np.arange(len(start)))
    places.gather.slices.append(columns)
