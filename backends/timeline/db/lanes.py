"""Lanes of a database: processes and lanes are named as in the text export of the same profiler."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backends.timeline.db.cells import ABSENT

if TYPE_CHECKING:
    from pathlib import Path

    from backends.timeline.gathering import Gathering
    from backends.timeline.kinds import LaneKind

PYTHON_MARK = "\x00python"  # behind the tid of a thread: the lane of its Python calls
COMPUTED = "computed"  # the table of lanes whose slices are in no table: they were computed from others

# Order of processes, the profiler's own process_sort_index.
SORTS = {
    "Python": 0.0, "Python GC": 1.0, "MSTX": 2.0, "CANN": 7.0, "OS Runtime": 8.0, "Ascend Hardware": 13.0,
    "AI Core Freq": 14.0, "Communication": 15.0, "HBM": 17.0, "LLC": 18.0, "NPU MEM": 19.0, "Stars Soc Info": 20.0,
    "Acc PMU": 21.0, "QoS": 22.0, "Overlap Analysis": 23.0, "Memory": 24.0,
}  # fmt: skip
LAST_SORT = 25.0


def number_text(number: int) -> str:
    return "?" if number == ABSENT else str(number)


@dataclass(kw_only=True)
class DbLanes:
    """The lanes of one source. `ranks`: device -> rank."""

    gather: Gathering
    source: int
    ranks: dict[int, int] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.gather.sources[self.source].path

    def host(self, name: str, pid: int) -> str:
        """Return the pid of a process on the host, creating it on first use."""
        key = number_text(pid) if name == "Python" else f"{number_text(pid)} {name}"
        return self._process(key, name, "CPU", SORTS.get(name, LAST_SORT), None)

    def device(self, name: str, device: int) -> str:
        """Return the pid of a layer of a device, creating it on first use."""
        label = "NPU" if device == ABSENT else f"NPU {device}"
        sort = SORTS.get(name, LAST_SORT) + min(max(device, 0), 999) / 1000
        return self._process(f"{label} {name}", name, label, sort, self.ranks.get(device))

    def thread(self, name: str, thread: int, table: str, kind: LaneKind, *, python: bool = False) -> int:
        """Return the lane of a thread by its global id, which is (pid << 32) | tid."""
        tid = number_text(thread if thread == ABSENT else thread & 0xFFFFFFFF)
        pid = self.host(name, thread if thread == ABSENT else thread >> 32)
        return self.lane(pid, tid + PYTHON_MARK if python else tid, f"Thread {tid}", table, kind)

    def lane(self, pid: str, tid: str, name: str, table: str, kind: LaneKind, sort: float | None = None) -> int:
        number = self.gather.lane(self.source, pid, tid)
        lane = self.gather.lanes[number]
        lane.name, lane.table, lane.kind, lane.sort = name, table, kind, sort
        return number

    def _process(self, pid: str, name: str, label: str, sort: float, rank: int | None) -> str:
        process = self.gather.processes[self.gather.process(self.source, pid)]
        process.name, process.label, process.sort = name, label, sort
        process.rank = process.rank if rank is None else rank
        return pid
