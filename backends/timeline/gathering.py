"""What the readers deliver: arrays of events in file order, and what is known of their lanes.

A reader never drops an event silently: each one is added as a slice, an instant, a flow end or a sample, or it is
counted as metadata or as set aside. All times are int64 nanoseconds, since the epoch where the source tells.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from backends.timeline.kinds import LaneKind
    from studio.errors import StudioError

    Numbers = NDArray[np.int64]

BEGIN, STEP, END = 0, 1, 2  # of a flow: ph s, t, f


@dataclass(kw_only=True)
class GatheredProcess:
    """A process of one source, by its pid. `sort`: the trace's own sort index; lower values come first."""

    source: int
    pid: str
    name: str = ""
    label: str = ""
    sort: float | None = None
    rank: int | None = None


@dataclass(kw_only=True)
class GatheredLane:
    """A thread, stream or plane. `kind`: None where the builder is to infer it from the names of process and lane."""

    source: int
    process: int
    tid: str
    name: str = ""
    sort: float | None = None
    kind: LaneKind | None = None
    table: str = ""


@dataclass(kw_only=True)
class GatheredSeries:
    """Figures over time under one name, of one process. `unit`: as the source writes it, e.g. "MB/s"."""

    source: int
    process: int
    name: str
    unit: str = ""


@dataclass(kw_only=True)
class GatheredSource:
    """A source file. `chunks`, of text only: (first byte, byte after the last, number of the first event), int64 [n,
    3], so that one event can be found again by its number. `limit`: the size in bytes at which unpacking was stopped
    because it was too large; else 0. `problem`: why it was left out. `gaps`: what it lacks. `is_kineto`: whether
    torch.profiler wrote it, which marks the end of its recording behind all else."""

    path: Path
    kind: str
    rank: int | None = None
    chunks: list[tuple[int, int, int]] = field(default_factory=list)
    truncated: bool = False
    limit: int = 0
    problem: StudioError | None = None
    gaps: tuple[StudioError, ...] = ()
    is_kineto: bool = False


def _numbers() -> defaultdict[str, int]:
    return defaultdict(count().__next__)


@dataclass(kw_only=True)
class Gathering:
    """Everything that was read of a profile.

    Each list holds tuples of equally long arrays, one tuple per chunk: slices (lane int32, start, end, name int32,
    event), instants (lane int32, time, name int32, event), ends (lane int32, time, key, kind int32, phase uint8),
    samples (series int32, time, value float64). `event`: number of the event in its source, or rowid in the table of
    its lane. `key`: shared by the ends of one flow. `names`, `flow_kinds`: text -> number, assigned at lookup.
    `events`: their number in the sources.
    """

    sources: list[GatheredSource] = field(default_factory=list)
    processes: list[GatheredProcess] = field(default_factory=list)
    lanes: list[GatheredLane] = field(default_factory=list)
    series: list[GatheredSeries] = field(default_factory=list)
    names: defaultdict[str, int] = field(default_factory=_numbers)
    flow_kinds: defaultdict[str, int] = field(default_factory=_numbers)
    slices: list[tuple[Numbers, ...]] = field(default_factory=list)
    instants: list[tuple[Numbers, ...]] = field(default_factory=list)
    ends: list[tuple[Numbers, ...]] = field(default_factory=list)
    samples: list[tuple[Numbers, ...]] = field(default_factory=list)
    steps: list[tuple[int, int, int, int]] = field(default_factory=list)  # number, start, end, source
    events: int = 0
    counter_events: int = 0  # those that gave samples; one with several figures gives several
    metadata: int = 0
    set_aside: Counter[str] = field(default_factory=Counter)  # reason, a key of timeline.aside -> how many
    next_key: int = 0  # the next flow key nobody has used

    _processes: dict[tuple[int, str], int] = field(default_factory=dict)
    _lanes: dict[tuple[int, str, str], int] = field(default_factory=dict)
    _series: dict[tuple[int, str], int] = field(default_factory=dict)

    def source(self, path: Path, kind: str, rank: int | None = None) -> int:
        self.sources.append(GatheredSource(path=path, kind=kind, rank=rank))
        return len(self.sources) - 1

    def process(self, source: int, pid: str) -> int:
        """Return the number of a process, creating it on first use."""
        number = self._processes.setdefault((source, pid), len(self.processes))
        if number == len(self.processes):
            rank = self.sources[source].rank
            self.processes.append(GatheredProcess(source=source, pid=pid, rank=rank))
        return number

    def lane(self, source: int, pid: str, tid: str) -> int:
        """Return the number of a lane, creating it and its process on first use."""
        number = self._lanes.setdefault((source, pid, tid), len(self.lanes))
        if number == len(self.lanes):
            self.lanes.append(GatheredLane(source=source, process=self.process(source, pid), tid=tid))
        return number

    def series_of(self, source: int, pid: str, name: str, unit: str = "") -> int:
        process = self.process(source, pid)
        number = self._series.setdefault((process, name), len(self.series))
        if number == len(self.series):
            self.series.append(GatheredSeries(source=source, process=process, name=name, unit=unit))
        return number
