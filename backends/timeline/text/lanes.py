"""Lanes and processes of one trace, and the names that its metadata gives them, which may come before or after."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from backends.timeline.text.event import Event, clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.timeline.gathering import GatheredLane, GatheredProcess, Gathering

PYTHON_MARK = "\x00python"  # behind a tid: the Python stack of that thread, a lane of its own
ASYNC = "\x00async "  # before a category: what has no thread


class Lanes:
    """A lane is created by its first event. Names of lanes and processes are stored until then."""

    def __init__(self, gather: Gathering, source: int) -> None:
        self._gather = gather
        self._source = source
        self._of_process: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        self._of_lane: defaultdict[tuple[str, str], dict[str, Any]] = defaultdict(dict)

    def process(self, pid: str) -> int:
        count = len(self._gather.processes)
        number = self._gather.process(self._source, pid)
        if number == count:
            _name_process(self._gather.processes[number], self._of_process.get(pid, {}))
        return number

    def lane(self, pid: str, tid: str) -> int:
        self.process(pid)
        count = len(self._gather.lanes)
        number = self._gather.lane(self._source, pid, tid)
        if number == count:
            _name_lane(self._gather.lanes[number], self._of_lane.get((pid, tid.removesuffix(PYTHON_MARK)), {}))
        return number

    def take(self, metadata: Sequence[Event]) -> None:
        """Take events of phase M. What they say about existing lanes is applied at once."""
        touched = [touched for event in metadata if (touched := self._keep(event))]
        for pid in {pid for pid, _ in touched}:
            if (self._source, pid) in self._gather._processes:
                _name_process(self._gather.processes[self.process(pid)], self._of_process[pid])
        for pid, tid in {(pid, tid + end) for pid, tid in touched for end in ("", PYTHON_MARK)}:
            if (self._source, pid, tid) in self._gather._lanes:
                lane = self._gather.lanes[self.lane(pid, tid)]
                _name_lane(lane, self._of_lane[pid, tid.removesuffix(PYTHON_MARK)])

    def _keep(self, event: Event) -> tuple[str, str] | None:
        arguments = arguments_of(event)
        if not arguments or not event.name:
            return None
        pid, tid = id_text(event.pid), id_text(event.tid)
        if event.name.startswith("process_"):
            self._of_process[pid] |= arguments
        elif event.name.startswith("thread_"):
            self._of_lane[pid, tid] |= arguments
        return pid, tid


def id_text(number: float | str | None) -> str:
    """Return a pid or tid as text; a missing one is not the number 0."""
    return "" if number is None else str(number)


def arguments_of(event: Event) -> dict[str, Any]:
    try:
        arguments = json.loads(bytes(event.args) or b"{}")
    except (ValueError, RecursionError):
        return {}
    return arguments if isinstance(arguments, dict) else {}


def _name_process(process: GatheredProcess, metadata: dict[str, Any]) -> None:
    process.name = _text(metadata.get("name"), process.name)
    process.label = _text(metadata.get("labels"), process.label)
    process.sort = _sort(metadata.get("sort_index"), process.sort)


def _name_lane(lane: GatheredLane, metadata: dict[str, Any]) -> None:
    lane.name = _text(metadata.get("name"), lane.name)
    lane.sort = _sort(metadata.get("sort_index"), lane.sort)
    if lane.tid.endswith(PYTHON_MARK):
        lane.kind, lane.table = "host", "python"
        lane.name = lane.name or lane.tid.removesuffix(PYTHON_MARK)
    elif lane.tid.startswith(ASYNC):
        lane.name = lane.tid.removeprefix(ASYNC)


def _text(value: object, before: str) -> str:
    return before if value is None else clean(str(value))


def _sort(value: object, before: float | None) -> float | None:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return before
    return number if math.isfinite(number) else before
