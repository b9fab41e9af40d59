"""What ran on the cards: tasks by stream, named by their kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.db.cells import ABSENT
from backends.timeline.db.host import Calls, calls, joined
from backends.timeline.db.lookup import Lookup, coded, paired
from backends.timeline.db.place import Places, shown
from backends.timeline.db.rows import blocks, column_of
from backends.timeline.db.slices import add, timed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from backends.timeline.db.base import Base
    from backends.timeline.db.columns import Rows
    from backends.timeline.db.flows import Flow
    from backends.timeline.db.names import Names

    Numbers = NDArray[np.int64]

KERNEL = ("startNs", "endNs", "deviceId")
PART = (*KERNEL, "globalTaskId", "connectionId")
COMPUTE = frozenset(
    ("KERNEL_AICORE", "KERNEL_AIVEC", "KERNEL_AICPU", "KERNEL_MIX_AIC", "KERNEL_MIX_AIV", "AI_CORE", "AI_VECTOR_CORE",
     "AI_CPU", "MIX_AIC", "MIX_AIV", "FFTS_PLUS", "HCCL_AI_CPU", "DSA_SQE", "DSA")
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Tasks:
    """`parts`: the columns PART of the tasks that are parts of a communication. `compute`: startNs, endNs and deviceId
    of kernels. `devices`: all cards that there are."""

    parts: Calls
    compute: Calls
    devices: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class _Kernels:
    """Which tasks have a name of their own, and which are parts of a communication. `operations`: connections of
    communications: a kernel of no table that shares one stands on its stream for the communication."""

    compute: Lookup
    compute_name: Numbers
    scheduled: Lookup
    scheduled_name: Numbers
    parts: Lookup
    operations: Lookup
    operation_name: Numbers
    is_compute: Callable[[int], bool]

    def name(self, rows: Rows, compute: Numbers) -> Numbers:
        ids = rows["taskType"].copy()
        for place, name in (
            (self._operation(rows), self.operation_name),
            (self.scheduled.find(rows["globalTaskId"]), self.scheduled_name),
            (compute, self.compute_name),
        ):
            if len(name):
                known = np.flatnonzero(place >= 0)
                ids[known] = name[place[known]]
        return ids

    def kernels(self, rows: Rows, compute: Numbers) -> NDArray[np.bool_]:
        """By the types of tasks where the table of kernels is not there or empty."""
        if len(self.compute_name):
            return compute >= 0
        return self._of_kernels(rows) & (self._operation(rows) < 0)

    def _operation(self, rows: Rows) -> Numbers:
        """Places of the communications that tasks stand for, -1 for none."""
        if not len(self.operation_name):
            return np.full(len(rows), -1, np.int64)
        return np.where(self._of_kernels(rows), self.operations.find(rows["connectionId"]), -1)

    def _of_kernels(self, rows: Rows) -> NDArray[np.bool_]:
        """By the types of tasks."""
        types, codes = coded(rows["taskType"])
        return np.array([self.is_compute(number) for number in types.tolist()], bool)[codes]


def read_tasks(base: Base, places: Places, names: Names, parts_of: Numbers, flows: Sequence[Flow]) -> Tasks:
    """`parts_of`: globalTaskId of all tasks of communications: no flow ends at those, but at their communication."""
    kernels = _kernels(base, names, parts_of)
    wanted = ("startNs", "endNs", "deviceId", "connectionId", "globalTaskId", "taskType", "streamId")
    parts, compute = [], []
    devices: set[int] = set()
    for rows in blocks(base, "TASK", wanted):
        sound = timed(places.gather, rows)
        lanes = paired(sound["deviceId"], sound["streamId"], lambda card, stream: _stream(places, card, stream))
        at = kernels.compute.find(sound["globalTaskId"])
        add(places.gather, lanes, sound, names.numbers(kernels.name(sound, at)))
        devices.update(coded(sound["deviceId"])[0].tolist())
        part = kernels.parts.find(sound["globalTaskId"]) >= 0
        kernel = kernels.kernels(sound, at) & ~part
        _end(flows, lanes, sound, ~part)
        parts.append(calls(lanes, sound, PART, part))
        compute.append(calls(lanes, sound, KERNEL, kernel))
    return Tasks(
        parts=joined(parts, PART),
        compute=joined(compute, KERNEL),
        devices=tuple(sorted(devices)),
    )


def _end(flows: Sequence[Flow], lanes: NDArray[np.int32], rows: Rows, mask: NDArray[np.bool_]) -> None:
    start, connection = rows["startNs"], rows["connectionId"]
    if not mask.all():
        lanes, start, connection = lanes[mask], start[mask], connection[mask]
    for flow in flows:
        flow.to(lanes, start, connection)


def _stream(places: Places, card: int, stream: int) -> int:
    pid = places.device("Ascend Hardware", card)
    return places.lane(pid, str(stream), f"Stream {shown(stream)}", "TASK", "device", stream)


def _kernels(base: Base, names: Names, parts_of: Numbers) -> _Kernels:
    _, compute, compute_name = column_of(base, "COMPUTE_TASK_INFO", "globalTaskId", "name")
    _, scheduled, scheduled_name = column_of(base, "COMMUNICATION_SCHEDULE_TASK_INFO", "globalTaskId", "name")
    operations, operation_name = _operations(base)
    return _Kernels(
        operations=Lookup.of(operations),
        operation_name=operation_name,
        compute=Lookup.of(compute),
        compute_name=compute_name,
        scheduled=Lookup.of(scheduled),
        scheduled_name=scheduled_name,
        parts=Lookup.of(parts_of),
        is_compute=lambda number: names.text(number) in COMPUTE,
    )


def _operations(base: Base) -> tuple[Numbers, Numbers]:
    """Connections of communications and their names. The table is read again for its slices: what is damaged counts
    then."""
    damaged = base.damaged
    _, connection, name = column_of(base, "COMMUNICATION_OP", "connectionId", "opName")
    base.damaged = damaged
    known = connection != ABSENT
    return connection[known], name[known]
