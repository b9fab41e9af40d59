"""Communication operators: one lane per group, and below it the planes with the tasks of each operator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.db.cells import ABSENT
from backends.timeline.db.columns import ColumnBlock
from backends.timeline.db.host import Calls, calls, join_calls
from backends.timeline.db.lanes import DbLanes, number_text
from backends.timeline.db.lookup import Lookup, coded, translated
from backends.timeline.db.row_blocks import read_blocks, read_columns
from backends.timeline.db.slices import NO_TASK, add, set_aside, timed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.timeline.db.database import Database
    from backends.timeline.db.device import Tasks
    from backends.timeline.db.names import Names

    Numbers = NDArray[np.int64]


PART_COLUMNS = ("globalTaskId", "taskType", "planeId", "groupName")
OPERATION = ("startNs", "endNs", "connectionId", "deviceId")


@dataclass(kw_only=True)
class Groups:
    """Groups are numbered as they appear, as in the text export."""

    places: DbLanes
    names: Names

    def __post_init__(self) -> None:
        self._numbers: dict[int, dict[int, int]] = {}

    def group(self, device: int, group: int) -> tuple[str, int]:
        """Return the pid of the device's communication process, and the number of the group in it."""
        numbers = self._numbers.setdefault(device, {})
        return self.places.device("Communication", device), numbers.setdefault(group, len(numbers))

    def lane(self, device: int, group: int) -> int:
        pid, number = self.group(device, group)
        return self.places.lane(
            pid, self.names.text(group), f"Group {number} Communication", "COMMUNICATION_OP", "communication",
            1e6 * number,
        )  # fmt: skip

    def plane(self, device: int, group: int, plane: int) -> int:
        pid, number = self.group(device, group)
        return self.places.lane(
            pid, f"{self.names.text(group)} {number_text(plane)}", f"Plane {number_text(plane)}",
            "COMMUNICATION_TASK_INFO", "communication", 1e6 * number + 1 + plane,
        )  # fmt: skip


def read_parts(base: Database) -> ColumnBlock:
    """Read COMMUNICATION_TASK_INFO: what each task of a communication operator does."""
    rowid, *columns = read_columns(base, "COMMUNICATION_TASK_INFO", *PART_COLUMNS)
    return ColumnBlock(rowid=rowid, wholes=dict(zip(PART_COLUMNS, columns, strict=True)), figures={})


def read_operations(base: Database, places: DbLanes, names: Names, groups: Groups, tasks: Tasks) -> Calls:
    """Read startNs, endNs, connectionId and deviceId of COMMUNICATION_OP, and add its slices."""
    columns = ("startNs", "endNs", "opName", "groupName", "connectionId", "deviceId")
    parts = []
    for rows in read_blocks(base, "COMMUNICATION_OP", columns):
        sound = timed(places.gather, rows)
        sound.wholes["deviceId"] = _devices_of(sound, tasks)
        lanes = _lanes(groups, sound["deviceId"], sound["groupName"], None)
        add(places.gather, lanes, sound, names.numbers(sound["opName"]))
        parts.append(calls(lanes, sound, OPERATION))
    return join_calls(parts, OPERATION)


def _devices_of(rows: ColumnBlock, tasks: Tasks) -> Numbers:
    """Return the device of each operator: that of its tasks, which share its connection, or the only one in the
    database."""
    only = tasks.devices[0] if len(tasks.devices) == 1 else ABSENT
    if not len(tasks.parts) or only != ABSENT:
        return np.where(rows["deviceId"] == ABSENT, only, rows["deviceId"])
    at = Lookup.of(tasks.parts["connectionId"]).find(rows["connectionId"])
    devices = np.where(at >= 0, tasks.parts["deviceId"][at], only)
    return np.where(rows["deviceId"] == ABSENT, devices, rows["deviceId"])


def add_planes(places: DbLanes, names: Names, groups: Groups, parts: ColumnBlock, tasks: Tasks) -> None:
    """Add the tasks of communication operators in lanes of planes. A part has the times of its task; a part without a
    task is set aside."""
    gather = places.gather
    at = Lookup.of(tasks.parts["globalTaskId"]).find(parts["globalTaskId"])
    has_task = at >= 0
    gather.events += len(parts)
    set_aside(gather, NO_TASK, int(len(parts) - has_task.sum()))
    timed_parts, at = parts.where(has_task), at[has_task]
    timed_parts = ColumnBlock(
        rowid=timed_parts.rowid,
        wholes={**timed_parts.wholes, "startNs": tasks.parts["startNs"][at], "endNs": tasks.parts["endNs"][at]},
        figures={},
    )
    lanes = _lanes(groups, tasks.parts["deviceId"][at], timed_parts["groupName"], timed_parts["planeId"])
    add(gather, lanes, timed_parts, names.numbers(timed_parts["taskType"]))


def _lanes(groups: Groups, device: Numbers, group: Numbers, plane: Numbers | None) -> NDArray[np.int32]:
    devices, device_at = coded(device)
    group_ids, group_at = coded(group)
    planes, plane_at = coded(plane) if plane is not None else (None, 0)
    wide = 1 if planes is None else max(1, len(planes))
    deep = max(1, len(group_ids))

    def lane(code: int) -> int:
        both, last = divmod(code, wide)
        first, second = int(devices[both // deep]), int(group_ids[both % deep])
        return groups.lane(first, second) if planes is None else groups.plane(first, second, int(planes[last]))

    return translated((device_at * deep + group_at) * wide + plane_at, lane)
