"""What ran on the host: PyTorch and Python calls, CANN calls, mstx marks, garbage collection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.db.lookup import coded, translated
from backends.timeline.db.row_blocks import read_blocks
from backends.timeline.db.slices import add, timed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from backends.timeline.db.columns import ColumnBlock
    from backends.timeline.db.database import Database
    from backends.timeline.db.lanes import DbLanes
    from backends.timeline.db.names import Names

    Numbers = NDArray[np.int64]

# ENUM_API_TYPE of torch_npu
QUEUE, PYTHON_CALL = 50002, 50003
CONNECTED = ("startNs", "connectionId")
FRAMEWORK = (*CONNECTED, "name", "sequenceNumber", "fwdThreadId", "type")
MARKERS = (0, 3)  # ENUM_MSTX_EVENT_TYPE: marker, marker_ex


@dataclass(frozen=True, kw_only=True)
class Calls:
    """Rows that flows start from: their lanes and columns."""

    lane: NDArray[np.int32]
    columns: dict[str, Numbers]

    def __getitem__(self, column: str) -> Numbers:
        return self.columns[column]

    def __len__(self) -> int:
        return len(self.lane)

    def where(self, some: NDArray[np.bool_] | Numbers) -> Calls:
        """Return those rows: `some` is a mask or positions."""
        return Calls(lane=self.lane[some], columns={name: column[some] for name, column in self.columns.items()})


def calls(
    lane: NDArray[np.int32], rows: ColumnBlock, columns: Sequence[str], mask: NDArray[np.bool_] | None = None
) -> Calls:
    """Return those columns of a block, for the rows of `mask`."""
    some = Calls(lane=lane, columns={name: rows[name] for name in columns})
    return some if mask is None or mask.all() else some.where(mask)


def join_calls(parts: Sequence[Calls], columns: Sequence[str]) -> Calls:
    """Join the calls of all blocks."""
    lanes = [np.empty(0, np.int32), *(part.lane for part in parts)]
    return Calls(
        lane=np.concatenate(lanes),
        columns={name: np.concatenate([np.empty(0, np.int64), *(part[name] for part in parts)]) for name in columns},
    )


def read_pytorch(base: Database, places: DbLanes, names: Names) -> Calls:
    """Read startNs, connectionId, name, sequenceNumber, fwdThreadId and type of PYTORCH_API, and add its slices."""
    columns = ("endNs", "globalTid", *FRAMEWORK)
    parts = []
    for rows in read_blocks(base, "PYTORCH_API", columns):
        sound = timed(places.gather, rows)
        python = sound["type"] == PYTHON_CALL
        thread, codes = coded(sound["globalTid"])

        def lane(code: int, thread: Numbers = thread) -> int:
            number = int(thread[code // 2])
            return places.thread("Python", number, "PYTORCH_API", "host", python=bool(code % 2))

        lanes = translated(2 * codes + python, lane)
        add(places.gather, lanes, sound, names.numbers(sound["name"]))
        parts.append(calls(lanes, sound, FRAMEWORK))
    return join_calls(parts, FRAMEWORK)


def read_cann(base: Database, places: DbLanes, names: Names) -> Calls:
    """Read startNs and connectionId of CANN_API, and add its slices."""
    columns = ("startNs", "endNs", "globalTid", "connectionId", "name")
    parts = []
    for rows in read_blocks(base, "CANN_API", columns):
        sound = timed(places.gather, rows)
        lanes = translated(sound["globalTid"], lambda thread: places.thread("CANN", thread, "CANN_API", "api"))
        add(places.gather, lanes, sound, names.numbers(sound["name"]))
        parts.append(calls(lanes, sound, CONNECTED))
    return join_calls(parts, CONNECTED)


def read_marks(base: Database, places: DbLanes, names: Names) -> Calls:
    """Read startNs and connectionId of MSTX_EVENTS, and add its slices. A marker has no length: it is an instant."""
    columns = ("startNs", "endNs", "eventType", "message", "globalTid", "connectionId")
    parts = []
    for rows in read_blocks(base, "MSTX_EVENTS", columns):
        sound = timed(places.gather, rows)
        lanes = translated(sound["globalTid"], lambda thread: places.thread("MSTX", thread, "MSTX_EVENTS", "host"))
        name = names.numbers(sound["message"])
        point = np.isin(sound["eventType"], MARKERS) & (sound["startNs"] == sound["endNs"])
        add(places.gather, lanes[~point], sound.where(~point), name[~point])
        if point.any():
            marks = sound.where(point)
            places.gather.instants.append((lanes[point], marks["startNs"], name[point], marks.rowid))
        parts.append(calls(lanes, sound, CONNECTED))
    return join_calls(parts, CONNECTED)


def read_collections(base: Database, places: DbLanes) -> None:
    name = places.gather.names["GC"] if base.table("GC_RECORD") else 0
    _read_threads(base, places, "GC_RECORD", "Python GC", ("startNs", "endNs", "globalTid"),
                  lambda rows: np.full(len(rows), name, np.int32))  # fmt: skip


def read_system(base: Database, places: DbLanes, names: Names) -> None:
    """Add the calls of the operating system."""
    _read_threads(base, places, "OSRT_API", "OS Runtime", ("startNs", "endNs", "globalTid", "name"),
                  lambda rows: names.numbers(rows["name"]))  # fmt: skip


def _read_threads(
    base: Database,
    places: DbLanes,
    table: str,
    process: str,
    columns: tuple[str, ...],
    name: Callable[[ColumnBlock], NDArray[np.int32]],
) -> None:
    for rows in read_blocks(base, table, columns):
        sound = timed(places.gather, rows)
        lanes = translated(sound["globalTid"], lambda thread: places.thread(process, thread, table, "host"))
        add(places.gather, lanes, sound, name(sound))
