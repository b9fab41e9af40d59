"""What ran on the devices: tasks by stream, named after their kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.db.cells import ABSENT
from backends.timeline.db.host import Calls, calls, join_calls
from backends.timeline.db.lanes import DbLanes, number_text
from backends.timeline.db.lookup import Lookup, coded, paired
from backends.timeline.db.row_blocks import read_blocks, read_columns
from backends.timeline.db.slices import add, timed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from backends.timeline.db.columns import ColumnBlock
    from backends.timeline.db.database import Database
    from backends.timeline.db.flows import ConnectionFlow
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
    """`parts`: the columns PART of the tasks that belong to communication operators. `compute`: startNs, endNs and
    deviceId of kernels. `devices`: all device ids."""

    parts: Calls
    compute: Calls
    devices: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class _Kernels:
    """Which tasks have a name of their own, and which belong to a communication operator. `operations`: connections of
    communication operators; a kernel without a name that shares one stands for the operator on its stream."""

    compute: Lookup
    compute_name: Numbers
    scheduled: Lookup
    scheduled_name: Numbers
    parts: Lookup
    operations: Lookup
    operation_name: Numbers
    is_compute: Callable[[int], bool]

    def name(self, rows: ColumnBlock, compute: Numbers) -> Numbers:
        ids = rows["taskType"].copy()
        for at, name in (
            (self._operation(rows), self.operation_name),
            (self.scheduled.find(rows["globalTaskId"]), self.scheduled_name),
            (compute, self.compute_name),
        ):
            if len(name):
                named = np.flatnonzero(at >= 0)
                ids[named] = name[at[named]]
        return ids

    def kernels(self, rows: ColumnBlock, compute: Numbers) -> NDArray[np.bool_]:
        """Return which tasks are kernels: by task type where the table of kernels is missing or empty."""
        if len(self.compute_name):
            return compute >= 0
        return self._of_kernels(rows) & (self._operation(rows) < 0)

    def _operation(self, rows: ColumnBlock) -> Numbers:
        """Return the position of the communication operator that each task stands for, -1 for none."""
        if not len(self.operation_name):
            return np.full(len(rows), -1, np.int64)
        return np.where(self._of_kernels(rows), self.operations.find(rows["connectionId"]), -1)

    def _of_kernels(self, rows: ColumnBlock) -> NDArray[np.bool_]:
        """Return which tasks have the type of a kernel."""
        types, codes = coded(rows["taskType"])
        return np.array([self.is_compute(number) for number in types.tolist()], bool)[codes]


def read_tasks(
    base: Database, places: DbLanes, names: Names, parts_of: Numbers, flows: Sequence[ConnectionFlow]
) -> Tasks:
    """Read the tasks of all streams. `parts_of`: globalTaskId of all tasks of communication operators: flows end at the
    operator, not at its tasks."""
    kernels = _kernels(base, names, parts_of)
    columns = ("startNs", "endNs", "deviceId", "connectionId", "globalTaskId", "taskType", "streamId")
    parts, compute = [], []
    devices: set[int] = set()
    for rows in read_blocks(base, "TASK", columns):
        sound = timed(places.gather, rows)
        lanes = paired(sound["deviceId"], sound["streamId"], lambda device, stream: _stream(places, device, stream))
        at = kernels.compute.find(sound["globalTaskId"])
        add(places.gather, lanes, sound, names.numbers(kernels.name(sound, at)))
        devices.update(coded(sound["deviceId"])[0].tolist())
        part = kernels.parts.find(sound["globalTaskId"]) >= 0
        kernel = kernels.kernels(sound, at) & ~part
        _end(flows, lanes, sound, ~part)
        parts.append(calls(lanes, sound, PART, part))
        compute.append(calls(lanes, sound, KERNEL, kernel))
    return Tasks(
        parts=join_calls(parts, PART),
        compute=join_calls(compute, KERNEL),
        devices=tuple(sorted(devices)),
    )


def _end(flows: Sequence[ConnectionFlow], lanes: NDArray[np.int32], rows: ColumnBlock, mask: NDArray[np.bool_]) -> None:
    start, connection = rows["startNs"], rows["connectionId"]
    if not mask.all():
        lanes, start, connection = lanes[mask], start[mask], connection[mask]
    for flow in flows:
        flow.to(lanes, start, connection)


def _stream(places: DbLanes, device: int, stream: int) -> int:
    pid = places.device("Ascend Hardware", device)
    return places.lane(pid, str(stream), f"Stream {number_text(stream)}", "TASK", "device", stream)


def _kernels(base: Database, names: Names, parts_of: Numbers) -> _Kernels:
    _, compute, compute_name = read_columns(base, "COMPUTE_TASK_INFO", "globalTaskId", "name")
    _, scheduled, scheduled_name = read_columns(base, "COMMUNICATION_SCHEDULE_TASK_INFO", "globalTaskId", "name")
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


def _operations(base: Database) -> tuple[Numbers, Numbers]:
    """Return connections and names of communication operators. The table is read again for its slices, and damage is
    counted then."""
    damaged = base.damaged
    _, connection, name = read_columns(base, "COMMUNICATION_OP", "connectionId", "opName")
    base.damaged = damaged
    is_connected = connection != ABSENT
    return connection[is_connected], name[is_connected]
