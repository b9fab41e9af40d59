"""The order in which processes, lanes and series are shown. Empty ones are left out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.families import lane_kind, sort_position
from backends.timeline.trace import Process

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from backends.timeline.gathering import GatheredLane, GatheredProcess, Gathering
    from backends.timeline.kinds import LaneKind

Natural = tuple[bool, str, int]
PYTHON_MARK = "\x00"  # what a thread's Python calls have behind its tid; they stand below the thread
NO_PID, NO_TID = '(pid "")', '(tid "")'  # where a trace gives no name and no number either
LONGEST = 4096  # characters of a name of a lane or a process: these are read at once when a profile is opened


@dataclass(frozen=True, kw_only=True)
class Order:
    """`lanes`, `series`: gathered numbers in the order of display; `lane_at`, `series_at`: position by gathered number,
    -1 for those left out. `kinds`: by gathered lane. `process_at`: position by gathered process."""

    processes: tuple[Process, ...]
    process_at: list[int]
    lanes: list[int]
    lane_at: NDArray[np.int32]
    kinds: dict[int, LaneKind]
    series: list[int]
    series_at: NDArray[np.int32]


def order_of(gather: Gathering, used_lanes: NDArray[np.bool_], used_series: NDArray[np.bool_]) -> Order:
    lanes, series = np.flatnonzero(used_lanes).tolist(), np.flatnonzero(used_series).tolist()
    used = {gather.lanes[lane].process for lane in lanes} | {gather.series[number].process for number in series}
    processes = sorted(used, key=lambda number: _process_key(gather.processes[number]))
    process_at = [-1] * len(gather.processes)
    for position, number in enumerate(processes):
        process_at[number] = position
    sort_of = _lane_sort(gather)
    lanes.sort(key=lambda lane: (process_at[gather.lanes[lane].process], *sort_of(gather.lanes[lane])))
    series.sort(key=lambda number: (process_at[gather.series[number].process], natural(gather.series[number].name)))
    return Order(
        processes=tuple(_process(gather.processes[number]) for number in processes),
        process_at=process_at,
        lanes=lanes,
        lane_at=_places(lanes, len(gather.lanes)),
        kinds=_kinds(gather, lanes),
        series=series,
        series_at=_places(series, len(gather.series)),
    )


def _places(order: list[int], count: int) -> NDArray[np.int32]:
    places = np.full(count, -1, np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places


def _process_key(process: GatheredProcess) -> tuple[bool, int, float, Natural, int]:
    sort = sort_position(process.name) if _unsorted(process.sort) else float(process.sort or 0)
    return process.rank is None, process.rank or 0, sort, natural(process.pid), process.source


def _unsorted(sort: float | None) -> bool:
    return sort is None or not math.isfinite(sort)


def _lane_sort(gather: Gathering) -> Callable[[GatheredLane], tuple[float, Natural, bool]]:
    """Return the sort key of lanes: the trace's own sort index first; Python calls sort with the thread they
    belong to."""
    sorts = {(lane.process, lane.tid): lane.sort for lane in gather.lanes if not _unsorted(lane.sort)}

    def key(lane: GatheredLane) -> tuple[float, Natural, bool]:
        thread, python, _ = lane.tid.partition(PYTHON_MARK)
        sort = sorts.get((lane.process, lane.tid), sorts.get((lane.process, thread)))
        return math.inf if sort is None else float(sort), natural(thread), bool(python)

    return key


def natural(text: str) -> Natural:
    """Return a natural sort key: numbers come first, by value; words follow, by their text and then by their trailing
    number."""
    stem = text.rstrip("0123456789")
    tail = text[len(stem) :]
    return bool(stem), stem, int(tail) if 0 < len(tail) < 40 else -1


def _process(process: GatheredProcess) -> Process:
    return Process(
        source=process.source, pid=displayable(process.pid), name=displayable(process.name or process.pid or NO_PID),
        label=displayable(process.label), rank=process.rank,
    )  # fmt: skip


def displayable(text: str) -> str:
    """Make a name acceptable to JSON and Qt: lone surrogates are replaced, and excessive length is cut."""
    return text[:LONGEST].encode("utf-8", "replace").decode()


def _kinds(gather: Gathering, lanes: list[int]) -> dict[int, LaneKind]:
    kinds: dict[int, LaneKind] = {}
    for number in lanes:
        lane = gather.lanes[number]
        process = gather.processes[lane.process]
        kinds[number] = lane.kind or lane_kind(process.name, process.label, lane.name)
    return kinds
