"""When each device computes, communicates and does neither: as its trace says, or from its streams."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.kinds import FAMILIES, Family
from backends.timeline.tables.intervals import NOTHING, Pieces, between, together, union, without

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
    `copies`: of memory, as far as streams show them. `said`: by the trace's own Overlap Analysis."""

    rank: int | None
    label: str
    lanes: tuple[int, ...]
    computing: Pieces
    communication: Pieces
    exposed: Pieces
    free: Pieces
    copies: Pieces
    said: bool


def devices(trace: Trace) -> tuple[Device, ...]:
    """Those that compute or communicate; processes of one source, rank and label ("NPU 0") are one device."""
    lanes: defaultdict[tuple[int, int | None, str], list[int]] = defaultdict(list)
    for number, lane in enumerate(trace.meta.lanes):
        if lane.kind in WORKING:
            process = trace.meta.processes[lane.process]
            lanes[process.source, process.rank, process.label].append(number)
    found = (_device(trace, rank, label, numbers) for (_, rank, label), numbers in lanes.items())
    return tuple(device for device in found if len(device.computing) or len(device.communication))


def _device(trace: Trace, rank: int | None, label: str, lanes: Sequence[int]) -> Device:
    rows = {trace.meta.lanes[number].name: number for number in lanes if trace.meta.lanes[number].kind == "overlap"}
    said = bool(rows.keys() & {COMPUTING, COMMUNICATION})
    works = _works(trace, label, lanes)
    if said:
        computing, communication = (_lane(trace, rows.get(name)) for name in (COMPUTING, COMMUNICATION))
    else:
        computing = _of_family(trace, lanes, "compute", works)
        communication = _communication(trace, lanes, works)
    exposed = _lane(trace, rows[EXPOSED]) if EXPOSED in rows and said else without(communication, computing)
    free = _lane(trace, rows[FREE]) if FREE in rows and said else between(together((computing, communication)))
    return Device(
        rank=rank, label=label, lanes=tuple(lanes), computing=computing, communication=communication,
        exposed=exposed, free=free, copies=_of_family(trace, lanes, "memory", works), said=said,
    )  # fmt: skip


def slices_of(trace: Trace, lane: int) -> slice:
    """Where a lane's slices are in the columns."""
    one = trace.meta.lanes[lane]
    return slice(int(trace.row_begin[one.first_row]), int(trace.row_begin[one.first_row + one.rows]))


def _lane(trace: Trace, number: int | None) -> Pieces:
    if number is None:
        return NOTHING
    where = slices_of(trace, number)
    return union(trace.start[where], trace.end[where])


def _works(trace: Trace, label: str, lanes: Sequence[int]) -> NDArray[np.bool_]:
    """Of each name, whether it stands for work on a device. Kineto shows waiting on streams, too, and repeats there the
    annotations of the host, around the kernels that they cover."""
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
    """The names in a row that have two or more slices of the next row in them: kernels of a stream have none."""
    begin, middle, end = (int(trace.row_begin[row + one]) for one in range(3))
    parent = np.searchsorted(trace.start[begin:middle], trace.start[middle:end], "right") - 1
    inside = (parent >= 0) & (trace.end[middle:end] <= trace.end[begin + np.maximum(parent, 0)])
    held = np.bincount(parent[inside], minlength=middle - begin)
    found: NDArray[np.int32] = trace.name[begin:middle][held > 1]
    return found


def _communication(trace: Trace, lanes: Sequence[int], works: NDArray[np.bool_]) -> Pieces:
    """All of the lanes of communication, and what streams of a GPU hold of it."""
    whole = [_lane(trace, number) for number in lanes if trace.meta.lanes[number].kind == "communication"]
    return together((*whole, _of_family(trace, lanes, "communication", works)))


def _of_family(trace: Trace, lanes: Sequence[int], family: Family, works: NDArray[np.bool_]) -> Pieces:
    wanted = works & (trace.name_family == FAMILIES.index(family))
    found = []
    for number in lanes:
        if trace.meta.lanes[number].kind == "device":
            where = slices_of(trace, number)
            chosen = np.flatnonzero(wanted[trace.name[where]])
            found.append(union(trace.start[where][chosen], trace.end[where][chosen]))
    return together(found)
