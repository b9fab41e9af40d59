"""Lanes and processes of one trace, and the names that its metadata gives them, which may come before or after."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from backends.timeline.text.event import Event, clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.timeline.gather import Gather, GatheredLane, GatheredProcess

PYTHON = "\x00python"  # behind a tid: the Python stack of that thread, a lane of its own
ASYNC = "\x00async "  # before a category: what has no thread


class Lanes:
    """Only what has events gets a lane. Names of lanes and processes are kept until there is one."""

    def __init__(self, gather: Gather, source: int) -> None:
        self._gather = gather
        self._source = source
        self._of_process: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        self._of_lane: defaultdict[tuple[str, str], dict[str, Any]] = defaultdict(dict)

    def process(self, pid: str) -> int:
        known = len(self._gather.processes)
        number = self._gather.process(self._source, pid)
        if number == known:
            _name_process(self._gather.processes[number], self._of_process.get(pid, {}))
        return number

    def lane(self, pid: str, tid: str) -> int:
        self.process(pid)
        known = len(self._gather.lanes)
        number = self._gather.lane(self._source, pid, tid)
        if number == known:
            _name_lane(self._gather.lanes[number], self._of_lane.get((pid, tid.removesuffix(PYTHON)), {}))
        return number

    def take(self, metadata: Sequence[Event]) -> None:
        """Events of ph M. What they say of lanes that are there is applied at once."""
        touched = [touched for event in metadata if (touched := self._keep(event))]
        for pid in {pid for pid, _ in touched}:
            if (self._source, pid) in self._gather._processes:
                _name_process(self._gather.processes[self.process(pid)], self._of_process[pid])
        for pid, tid in {(pid, tid + end) for pid, tid in touched for end in ("", PYTHON)}:
            if (self._source, pid, tid) in self._gather._lanes:
                lane = self._gather.lanes[self.lane(pid, tid)]
                _name_lane(lane, self._of_lane[pid, tid.removesuffix(PYTHON)])

    def _keep(self, event: Event) -> tuple[str, str] | None:
        arguments = arguments_of(event)
        if not arguments or not event.name:
            return None
        pid, tid = name_of(event.pid), name_of(event.tid)
        if event.name.startswith("process_"):
            self._of_process[pid] |= arguments
        elif event.name.startswith("thread_"):
            self._of_lane[pid, tid] |= arguments
        return pid, tid


def name_of(number: float | str | None) -> str:
    """A pid or tid as text; nothing, of what has none, is not the number 0."""
    return "" if number is None else str(number)


def arguments_of(event: Event) -> dict[str, Any]:
    try:
        arguments = json.loads(bytes(event.args) or b"{}")
    except (ValueError, RecursionError):
        return {}
    return arguments if isinstance(arguments, dict) else {}


def _name_process(process: GatheredProcess, said: dict[str, Any]) -> None:
    process.name = _text(said.get("name"), process.name)
    process.label = _text(said.get("labels"), process.label)
    process.sort = _sort(said.get("sort_index"), process.sort)


def _name_lane(lane: GatheredLane, said: dict[str, Any]) -> None:
    lane.name = _text(said.get("name"), lane.name)
    lane.sort = _sort(said.get("sort_index"), lane.sort)
    if lane.tid.endswith(PYTHON):
        lane.kind, lane.table = "host", "python"
        lane.name = lane.name or lane.tid.removesuffix(PYTHON)
    elif lane.tid.startswith(ASYNC):
        lane.name = lane.tid.removeprefix(ASYNC)


def _text(said: object, before: str) -> str:
    return before if said is None else clean(str(said))


def _sort(said: object, before: float | None) -> float | None:
    try:
        number = float(said)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return before
    return number if math.isfinite(number) else before
