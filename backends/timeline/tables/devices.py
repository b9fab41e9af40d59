"""When each device computes, communicates and is idle: by the trace's Overlap Analysis, or from its streams."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.kinds import FAMILIES, Family
from backends.timeline.tables.intervals import NO_INTERVALS, Intervals, difference, gaps, union, union_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from backends.timeline.trace import Trace

COMPUTING, COMMUNICATION = "Computing", "Communication"
EXPOSED, FREE = "Communication(Not Overlapped)", "Free"
_WAITING = re.compile(r"(?:Context|Stream|Event|Device) (?:Sync|Wait)|Unknown Sync")
WORKING = ("device", "communication", "overlap")


@dataclass(frozen=True, kw_only=True)
class Device:
    """`exposed`: communication while nothing computes. `free`: neither, between the first and the last of them.
    `copies`: memory copies, as far as streams show them. `from_overlap`: taken from the trace's own Overlap Analysis.
    `source`: number of the source that traced it."""

    rank: int | None
    label: str
    lanes: tuple[int, ...]
    computing: Intervals
    communication: Intervals
    exposed: Intervals
    free: Intervals
    copies: Intervals
    from_overlap: bool
    source: int = 0


def devices(trace: Trace) -> tuple[Device, ...]:
    """Return devices that compute or communicate; processes of one source, rank and label ("NPU 0") are one device."""
    lanes: defaultdict[tuple[int, int | None, str], list[int]] = defaultdict(list)
    for number, lane in enumerate(trace.meta.lanes):
        if lane.kind in WORKING:
            process = trace.meta.processes[lane.process]
            lanes[process.source, process.rank, process.label].append(number)
    each_device = (_device(trace, *of_device, numbers) for of_device, numbers in lanes.items())
    return tuple(device for device in each_device if len(device.computing) or len(device.communication))


def _device(trace: Trace, source: int, rank: int | None, label: str, lanes: Sequence[int]) -> Device:
    rows = {trace.meta.lanes[number].name: number for number in lanes if trace.meta.lanes[number].kind == "overlap"}
    from_overlap = bool(rows.keys() & {COMPUTING, COMMUNICATION})
    works = _works(trace, label, lanes)
    if from_overlap:
        computing, communication = (_lane(trace, rows.get(name)) for name in (COMPUTING, COMMUNICATION))
    else:
        computing = _of_family(trace, lanes, "compute", works)
        communication = _communication(trace, lanes, works)
    exposed = _lane(trace, rows[EXPOSED]) if EXPOSED in rows and from_overlap else difference(communication, computing)
    free = _lane(trace, rows[FREE]) if FREE in rows and from_overlap else gaps(union_of((computing, communication)))
    return Device(
        rank=rank, label=label, lanes=tuple(lanes), computing=computing, communication=communication,
        exposed=exposed, free=free, copies=_of_family(trace, lanes, "memory", works), from_overlap=from_overlap,
        source=source,
    )  # fmt: skip


def slices_of(trace: Trace, lane: int) -> slice:
    """Return the range of a lane's slices in the columns."""
    described = trace.meta.lanes[lane]
    return slice(int(trace.row_begin[described.first_row]), int(trace.row_begin[described.first_row + described.rows]))


def _lane(trace: Trace, number: int | None) -> Intervals:
    if number is None:
        return NO_INTERVALS
    where = slices_of(trace, number)
    return union(trace.start[where], trace.end[where])


def _works(trace: Trace, label: str, lanes: Sequence[int]) -> NDArray[np.bool_]:
    """Return for each name whether it stands for work on a device. Kineto also shows waiting on streams, and repeats
    the host's annotations around the kernels that they cover."""
    works = np.ones(len(trace.name_family), np.bool_)
    if label.startswith("GPU"):
        for number, lane in enumerate(trace.meta.lanes):
            if lane.kind == "host":
                works[trace.name[slices_of(trace, number)]] = False
        for lane in (trace.meta.lanes[number] for number in lanes):
            for row in range(lane.first_row, lane.first_row + lane.rows - 1):
                works[_around(trace, row)] = False
        works &= ~np.array([_WAITING.match(text) is not None for text in trace.name_texts], np.bool_)
    return works


def _around(trace: Trace, row: int) -> NDArray[np.int32]:
    """Return the names in a row that contain two or more slices of the next row: kernels of a stream contain none."""
    begin, middle, end = (int(trace.row_begin[row + below]) for below in range(3))
    parent = np.searchsorted(trace.start[begin:middle], trace.start[middle:end], "right") - 1
    inside = (parent >= 0) & (trace.end[middle:end] <= trace.end[begin + np.maximum(parent, 0)])
    held = np.bincount(parent[inside], minlength=middle - begin)
    names: NDArray[np.int32] = trace.name[begin:middle][held > 1]
    return names


def _communication(trace: Trace, lanes: Sequence[int], works: NDArray[np.bool_]) -> Intervals:
    """Join all communication lanes and the communication kernels on streams of a GPU."""
    whole = [_lane(trace, number) for number in lanes if trace.meta.lanes[number].kind == "communication"]
    return union_of((*whole, _of_family(trace, lanes, "communication", works)))


def _of_family(trace: Trace, lanes: Sequence[int], family: Family, works: NDArray[np.bool_]) -> Intervals:
    is_family = works & (trace.name_family == FAMILIES.index(family))
    parts = []
    for number in lanes:
        if trace.meta.lanes[number].kind == "device":
            where = slices_of(trace, number)
            chosen = np.flatnonzero(is_family[trace.name[where]])
            parts.append(union(trace.start[where][chosen], trace.end[where][chosen]))
    return union_of(parts)
