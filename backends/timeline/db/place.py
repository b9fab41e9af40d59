"""Where the rows of a database are shown: processes and lanes, named as in the text export of the same profiler."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backends.timeline.db.cells import ABSENT

if TYPE_CHECKING:
    from pathlib import Path

    from backends.timeline.gather import Gather
    from backends.timeline.kinds import LaneKind

PYTHON = "\x00python"  # behind the tid of a thread: the lane of its Python calls
COMPUTED = "computed"  # the table of lanes whose slices are in no table: they were computed from others

# Order of processes, the profiler's own process_sort_index.
SORTS = {
    "Python": 0.0, "Python GC": 1.0, "MSTX": 2.0, "CANN": 7.0, "OS Runtime": 8.0, "Ascend Hardware": 13.0,
    "AI Core Freq": 14.0, "Communication": 15.0, "HBM": 17.0, "LLC": 18.0, "NPU MEM": 19.0, "Stars Soc Info": 20.0,
    "Acc PMU": 21.0, "QoS": 22.0, "Overlap Analysis": 23.0, "Memory": 24.0,
}  # fmt: skip
LAST = 25.0


def shown(number: int) -> str:
    return "?" if number == ABSENT else str(number)


@dataclass(kw_only=True)
class Places:
    """Of one source. `ranks`: device -> rank."""

    gather: Gather
    source: int
    ranks: dict[int, int] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.gather.sources[self.source].path

    def host(self, name: str, pid: int) -> str:
        """The pid of a process on the host, which is made where it is new."""
        key = shown(pid) if name == "Python" else f"{shown(pid)} {name}"
        return self._process(key, name, "CPU", SORTS.get(name, LAST), None)

    def device(self, name: str, device: int) -> str:
        """The pid of a layer of a card, which is made where it is new."""
        label = "NPU" if device == ABSENT else f"NPU {device}"
        sort = SORTS.get(name, LAST) + min(max(device, 0), 999) / 1000
        return self._process(f"{label} {name}", name, label, sort, self.ranks.get(device))

    def thread(self, name: str, thread: int, table: str, kind: LaneKind, *, python: bool = False) -> int:
        """The lane of a thread by its global id, which is (pid << 32) | tid."""
        tid = shown(thread if thread == ABSENT else thread & 0xFFFFFFFF)
        pid = self.host(name, thread if thread == ABSENT else thread >> 32)
        return self.lane(pid, tid + PYTHON if python else tid, f"Thread {tid}", table, kind)

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
