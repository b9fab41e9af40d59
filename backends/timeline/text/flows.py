"""Ends of flows: those with one category and one id belong together, whether the id is a number or its text."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from backends.timeline.gather import Gather
    from backends.timeline.text.event import Event

Id = int | str | None

NO_ID = "timeline.aside.no_id"


class Flows:
    def __init__(self, gather: Gather) -> None:
        self._gather = gather
        self._first = gather.next_key
        self._keys = _Keys(count(gather.next_key).__next__)

    def take(
        self, events: Sequence[Event], lanes: NDArray[np.int32], times: NDArray[np.int64], phases: NDArray[np.uint8]
    ) -> None:
        ids = [event.id if type(event.id) is int else id_of(event) for event in events]
        if None in ids:
            kept = np.array([each is not None for each in ids], np.bool_)
            self._gather.set_aside[NO_ID] += int((~kept).sum())
            events = [event for event, each in zip(events, ids, strict=True) if each is not None]
            ids, lanes, times, phases = (
                [each for each in ids if each is not None],
                lanes[kept],
                times[kept],
                phases[kept],
            )
        if ids:
            self._add(events, ids, (lanes, times, phases))

    def _add(self, events: Sequence[Event], ids: Sequence[Id], columns: tuple[NDArray[np.generic], ...]) -> None:
        lanes, times, phases = columns
        of = [event.cat or _bare(event) for event in events]
        keys = np.array([self._keys[kind][each] for kind, each in zip(of, ids, strict=True)], np.int64)
        kinds = np.fromiter(map(self._gather.flow_kinds.__getitem__, of), np.int32, len(of))
        self._gather.ends.append((lanes, times, keys, kinds, phases))  # type: ignore[arg-type]
        self._gather.next_key = self._first + sum(map(len, self._keys.values()))


class _Keys(dict[str, defaultdict[Id, int]]):
    """By kind, then by id: a dict of pairs would take three times the memory."""

    def __init__(self, number: Callable[[], int]) -> None:
        super().__init__()
        self._number = number

    def __missing__(self, kind: str) -> defaultdict[Id, int]:
        self[kind] = defaultdict(self._number)
        return self[kind]


def _bare(event: Event) -> str:
    """A kind for what has no category: names such as HostToDevice936 carry the id."""
    return (event.name or "").rstrip("0123456789")


def id_of(event: Event) -> Id:
    """`id`, or else `id2`, whose local ids are those of a process. A number may be written as text."""
    if isinstance(event.id, str):
        return int(event.id) if event.id.isascii() and event.id.isdigit() and len(event.id) < 20 else event.id
    return event.id if event.id is not None else _second_id(event)


def _second_id(event: Event) -> str | None:
    try:
        scopes = json.loads(bytes(event.id2) or b"null")
    except (ValueError, RecursionError):
        return None
    if not isinstance(scopes, dict) or not scopes:
        return None
    if "global" in scopes:
        return f"global {scopes['global']}"
    return f"{event.pid} {scopes.get('local')}"
