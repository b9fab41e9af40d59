"""Flow ends: ends with the same category and id belong together, whether the id is a number or its text."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from backends.timeline.gathering import Gathering
    from backends.timeline.text.event import Event

Id = int | str | None

NO_ID = "timeline.aside.no_id"


class Flows:
    def __init__(self, gather: Gathering) -> None:
        self._gather = gather
        self._first = gather.next_key
        self._keys = _Keys(count(gather.next_key).__next__)

    def take(
        self, events: Sequence[Event], lanes: NDArray[np.int32], times: NDArray[np.int64], phases: NDArray[np.uint8]
    ) -> None:
        ids = [event.id if type(event.id) is int else id_of(event) for event in events]
        if None in ids:
            has_id = np.array([each is not None for each in ids], np.bool_)
            self._gather.set_aside[NO_ID] += int((~has_id).sum())
            events = [event for event, each in zip(events, ids, strict=True) if each is not None]
            ids, lanes, times, phases = (
                [each for each in ids if each is not None],
                lanes[has_id],
                times[has_id],
                phases[has_id],
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
    """Keys by kind, then by id: a dict of pairs would take three times the memory."""

    def __init__(self, number: Callable[[], int]) -> None:
        super().__init__()
        self._number = number

    def __missing__(self, kind: str) -> defaultdict[Id, int]:
        self[kind] = defaultdict(self._number)
        return self[kind]


def _bare(event: Event) -> str:
    """Return a kind for events without a category: names such as HostToDevice936 contain the id."""
    return (event.name or "").rstrip("0123456789")


def id_of(event: Event) -> Id:
    """Return `id`, or else `id2`, whose local ids are scoped to a process. A number may be written as text."""
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
