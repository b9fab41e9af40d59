"""Communications: a lane per group, and below it the planes with the tasks that each one is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.db.cells import ABSENT
from backends.timeline.db.columns import Rows
from backends.timeline.db.host import Calls, calls, joined
from backends.timeline.db.lookup import Lookup, coded, translated
from backends.timeline.db.place import Places, shown
from backends.timeline.db.rows import blocks, column_of
from backends.timeline.db.slices import NO_TASK, add, set_aside, timed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.timeline.db.base import Base
    from backends.timeline.db.device import Tasks
    from backends.timeline.db.names import Names

    Numbers = NDArray[np.int64]


PARTS = ("globalTaskId", "taskType", "planeId", "groupName")
OPERATION = ("startNs", "endNs", "connectionId", "deviceId")


@dataclass(kw_only=True)
class Groups:
    """Groups are numbered as they come, as in the text export."""

    places: Places
    names: Names

    def __post_init__(self) -> None:
        self._numbers: dict[int, dict[int, int]] = {}

    def group(self, card: int, group: int) -> tuple[str, int]:
        """The pid of the card's communication, and the number of the group in it."""
        numbers = self._numbers.setdefault(card, {})
        return self.places.device("Communication", card), numbers.setdefault(group, len(numbers))

    def lane(self, card: int, group: int) -> int:
        pid, number = self.group(card, group)
        return self.places.lane(
            pid, self.names.text(group), f"Group {number} Communication", "COMMUNICATION_OP", "communication",
            1e6 * number,
        )  # fmt: skip

    def plane(self, card: int, group: int, plane: int) -> int:
        pid, number = self.group(card, group)
        return self.places.lane(
            pid, f"{self.names.text(group)} {shown(plane)}", f"Plane {shown(plane)}", "COMMUNICATION_TASK_INFO",
            "communication", 1e6 * number + 1 + plane,
        )  # fmt: skip


def read_parts(base: Base) -> Rows:
    """COMMUNICATION_TASK_INFO: what each task of a communication does."""
    rowid, *columns = column_of(base, "COMMUNICATION_TASK_INFO", *PARTS)
    return Rows(rowid=rowid, wholes=dict(zip(PARTS, columns, strict=True)), figures={})


def read_operations(base: Base, places: Places, names: Names, groups: Groups, tasks: Tasks) -> Calls:
    """startNs, endNs, connectionId and deviceId of COMMUNICATION_OP."""
    wanted = ("startNs", "endNs", "opName", "groupName", "connectionId", "deviceId")
    parts = []
    for rows in blocks(base, "COMMUNICATION_OP", wanted):
        sound = timed(places.gather, rows)
        sound.wholes["deviceId"] = _cards(sound, tasks)
        lanes = _lanes(groups, sound["deviceId"], sound["groupName"], None)
        add(places.gather, lanes, sound, names.numbers(sound["opName"]))
        parts.append(calls(lanes, sound, OPERATION))
    return joined(parts, OPERATION)


def _cards(rows: Rows, tasks: Tasks) -> Numbers:
    """The card of each communication: of its tasks, which have the same connection, or the only one that there is."""
    only = tasks.devices[0] if len(tasks.devices) == 1 else ABSENT
    if not len(tasks.parts) or only != ABSENT:
        return np.where(rows["deviceId"] == ABSENT, only, rows["deviceId"])
    at = Lookup.of(tasks.parts["connectionId"]).find(rows["connectionId"])
    found = np.where(at >= 0, tasks.parts["deviceId"][at], only)
    return np.where(rows["deviceId"] == ABSENT, found, rows["deviceId"])


def add_planes(places: Places, names: Names, groups: Groups, parts: Rows, tasks: Tasks) -> None:
    """The times of a part are those of its task. A part without a task is set aside."""
    gather = places.gather
    at = Lookup.of(tasks.parts["globalTaskId"]).find(parts["globalTaskId"])
    known = at >= 0
    gather.events += len(parts)
    set_aside(gather, NO_TASK, int(len(parts) - known.sum()))
    found, at = parts.where(known), at[known]
    found = Rows(
        rowid=found.rowid,
        wholes={**found.wholes, "startNs": tasks.parts["startNs"][at], "endNs": tasks.parts["endNs"][at]},
        figures={},
    )
    lanes = _lanes(groups, tasks.parts["deviceId"][at], found["groupName"], found["planeId"])
    add(gather, lanes, found, names.numbers(found["taskType"]))


def _lanes(groups: Groups, card: Numbers, group: Numbers, plane: Numbers | None) -> NDArray[np.int32]:
    cards, card_at = coded(card)
    known, group_at = coded(group)
    planes, plane_at = coded(plane) if plane is not None else (None, 0)
    wide = 1 if planes is None else max(1, len(planes))
    deep = max(1, len(known))

    def lane(code: int) -> int:
        both, last = divmod(code, wide)
        first, second = int(cards[both // deep]), int(known[both % deep])
        return groups.lane(first, second) if planes is None else groups.plane(first, second, int(planes[last]))

    return translated((card_at * deep + group_at) * wide + plane_at, lane)
