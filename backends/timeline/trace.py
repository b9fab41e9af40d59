"""A profile that was read: columns mapped from the cache, and a description of its lanes. Opening reads no event."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from backends.timeline.kinds import FAMILIES, Family, LaneKind

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

FORMAT = 7
META = "meta.json"


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """A StudioError as stored."""

    key: str
    args: dict[str, str | int]


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A source file. `path`: below the root of the trace. `limit`: bytes after which unpacking was stopped, or 0.
    `problem`: why it was left out. `gaps`: what it lacks. `has_end`: whether the trace itself marks the end of its
    recording."""

    path: str
    kind: str
    rank: int | None = None
    truncated: bool = False
    limit: int = 0
    problem: Problem | None = None
    gaps: tuple[Problem, ...] = ()
    has_end: bool = False


class Process(msgspec.Struct, frozen=True, kw_only=True):
    """`rank`: None where the data does not tell. Processes are in display order."""

    source: int
    pid: str
    name: str
    label: str = ""
    rank: int | None = None


class Lane(msgspec.Struct, frozen=True, kw_only=True):
    """A thread, stream, plane, or a row of Overlap Analysis.

    Its rows are `first_row` to `first_row + rows` - 1, from top to bottom; slices of one row never overlap. Lanes are
    in display order, those of a process together. `table`: the database table of its events.
    """

    process: int
    tid: str
    name: str
    kind: LaneKind
    first_row: int
    rows: int
    slices: int
    table: str = ""


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """Figures over time: samples `begin` to `end` - 1 of the sample columns, in order of time."""

    process: int
    name: str
    unit: str
    begin: int
    end: int
    low: float
    high: float


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """A training step, in ns since the origin. `source`: number of the source that recorded it."""

    number: int
    start: int
    end: int
    rank: int | None = None
    source: int = 0


class Meta(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is small. `origin_ns`: the first event, ns since the epoch (or since whatever the source counts
    from, then `is_epoch` is False); all columns are relative to it. Figures of tables next to a trace may lie before it
    and after `last_ns`. `flows`: with both ends, counted by category and id; one may have several `arrows`; `dangling`:
    ends that belong to none. `set_aside`: reason -> number of events."""

    format: int
    origin_ns: int
    last_ns: int
    is_epoch: bool
    sources: tuple[Source, ...]
    processes: tuple[Process, ...]
    lanes: tuple[Lane, ...]
    series: tuple[Series, ...]
    steps: tuple[Step, ...]
    flow_kinds: tuple[str, ...]
    events: int
    slices: int
    instants: int
    flows: int
    arrows: int
    flow_ends: int
    dangling: int
    counters: int
    metadata: int
    set_aside: dict[str, int]
    partial: float | None = None  # of a trace that is still being read: how much of it, 0 to 1


@dataclass(frozen=True, eq=False)
class Trace:
    """Columns are memory maps; nothing is copied. `root`: the folder that the paths of the sources
    begin in: what was opened, or where the file is that was opened.

    Slices, sorted by row and then by start: `start`, `end` int64 [slices], ns since the origin; `name` int32 [slices];
    `event` int64 [slices]: its number in the source, or its rowid; an instant is a slice with end == start.
    `row_begin` int64 [rows + 1]; `row_lane` int32 [rows]. `cover` int64 [slices + 1]: sum of the durations before.
    Arrows, sorted by (from_lane, from_time): `arrow` int64 [arrows, 4] from_lane, from_time, to_lane, to_time;
    `arrow_kind` int32 [arrows]; `arrow_by_to` int32 [arrows]: the same sorted by (to_lane, to_time).
    Samples: `sample_time` int64, `sample_value` float64. Names: `name_family` uint8 [names], index of FAMILIES.
    """

    folder: Path
    root: Path
    meta: Meta
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    name: NDArray[np.int32]
    event: NDArray[np.int64]
    row_begin: NDArray[np.int64]
    row_lane: NDArray[np.int32]
    cover: NDArray[np.int64]
    arrow: NDArray[np.int64]
    arrow_kind: NDArray[np.int32]
    arrow_by_to: NDArray[np.int32]
    sample_time: NDArray[np.int64]
    sample_value: NDArray[np.float64]
    name_family: NDArray[np.uint8]
    name_begin: NDArray[np.int64]

    @property
    def span(self) -> int:
        """The time from the origin to the end of the last event, in ns; at least 1."""
        return max(1, self.meta.last_ns - self.meta.origin_ns)

    @cached_property
    def name_texts(self) -> list[str]:
        """All names, decoded on first use: 10 MB of them take about 0.1 s, so not on the UI thread."""
        data = (self.folder / "names.bin").read_bytes()
        bounds = self.name_begin.tolist()
        return [data[a:b].decode("utf-8", "replace") for a, b in pairwise(bounds)]

    def name_text(self, name: int) -> str:
        begin, end = int(self.name_begin[name]), int(self.name_begin[name + 1])
        return bytes(self._name_bytes[begin:end]).decode("utf-8", "replace")

    @cached_property
    def _name_bytes(self) -> NDArray[np.uint8]:
        path = self.folder / "names.bin"
        return np.memmap(path, np.uint8, "r") if path.stat().st_size else np.empty(0, np.uint8)

    def family(self, name: int) -> Family:
        return FAMILIES[int(self.name_family[name])]

    def chunks(self, source: int) -> NDArray[np.int64]:
        """Return (first byte, byte after the last, number of the first event) of the pieces of a text source,
        [n, 3]."""
        chunks: NDArray[np.int64] = _column(self.folder / f"chunks_{source}.npy")
        return chunks

    def row_of(self, index: int) -> int:
        """Return the row that a slice is in."""
        return int(np.searchsorted(self.row_begin, index, "right")) - 1

    def lane_of(self, index: int) -> int:
        return int(self.row_lane[self.row_of(index)])


TRACE_COLUMNS = (
    "start", "end", "name", "event", "row_begin", "row_lane", "cover", "arrow", "arrow_kind", "arrow_by_to",
    "sample_time", "sample_value", "name_family", "name_begin",
)  # fmt: skip


def open_trace(folder: Path, root: Path) -> Trace:
    """Map what `build` wrote. Raises OSError, ValueError or msgspec.DecodeError where it is incomplete."""
    meta = msgspec.json.decode((folder / META).read_bytes(), type=Meta)
    if meta.format != FORMAT:
        raise ValueError(f"format {meta.format}")
    return Trace(folder, root, meta, *(_column(folder / f"{name}.npy") for name in TRACE_COLUMNS))


def _column(path: Path) -> Any:
    return np.load(path, mmap_mode="r")
