"""What ran on the host: PyTorch's calls and Python's, CANN's, marks of mstx, garbage collection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.db.lookup import coded, translated
from backends.timeline.db.rows import blocks
from backends.timeline.db.slices import add, timed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from backends.timeline.db.base import Base
    from backends.timeline.db.columns import Rows
    from backends.timeline.db.names import Names
    from backends.timeline.db.place import Places

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
        """Those rows: a mask, or their places."""
        return Calls(lane=self.lane[some], columns={name: column[some] for name, column in self.columns.items()})


def calls(lane: NDArray[np.int32], rows: Rows, columns: Sequence[str], mask: NDArray[np.bool_] | None = None) -> Calls:
    """Those columns of a block, and those rows."""
    some = Calls(lane=lane, columns={name: rows[name] for name in columns})
    return some if mask is None or mask.all() else some.where(mask)


def joined(parts: Sequence[Calls], columns: Sequence[str]) -> Calls:
    """All blocks together."""
    lanes = [np.empty(0, np.int32), *(part.lane for part in parts)]
    return Calls(
        lane=np.concatenate(lanes),
        columns={name: np.concatenate([np.empty(0, np.int64), *(part[name] for part in parts)]) for name in columns},
    )


def read_pytorch(base: Base, places: Places, names: Names) -> Calls:
    """startNs, connectionId, name, sequenceNumber, fwdThreadId and type of PYTORCH_API."""
    wanted = ("endNs", "globalTid", *FRAMEWORK)
    parts = []
    for rows in blocks(base, "PYTORCH_API", wanted):
        sound = timed(places.gather, rows)
        python = sound["type"] == PYTHON_CALL
        thread, codes = coded(sound["globalTid"])

        def lane(code: int, thread: Numbers = thread) -> int:
            number = int(thread[code // 2])
            return places.thread("Python", number, "PYTORCH_API", "host", python=bool(code % 2))

        lanes = translated(2 * codes + python, lane)
        add(places.gather, lanes, sound, names.numbers(sound["name"]))
        parts.append(calls(lanes, sound, FRAMEWORK))
    return joined(parts, FRAMEWORK)


def read_cann(base: Base, places: Places, names: Names) -> Calls:
    """startNs and connectionId of CANN_API."""
    wanted = ("startNs", "endNs", "globalTid", "connectionId", "name")
    parts = []
    for rows in blocks(base, "CANN_API", wanted):
        sound = timed(places.gather, rows)
        lanes = translated(sound["globalTid"], lambda thread: places.thread("CANN", thread, "CANN_API", "api"))
        add(places.gather, lanes, sound, names.numbers(sound["name"]))
        parts.append(calls(lanes, sound, CONNECTED))
    return joined(parts, CONNECTED)


def read_marks(base: Base, places: Places, names: Names) -> Calls:
    """startNs and connectionId of MSTX_EVENTS. A marker has no length: it is an instant."""
    wanted = ("startNs", "endNs", "eventType", "message", "globalTid", "connectionId")
    parts = []
    for rows in blocks(base, "MSTX_EVENTS", wanted):
        sound = timed(places.gather, rows)
        lanes = translated(sound["globalTid"], lambda thread: places.thread("MSTX", thread, "MSTX_EVENTS", "host"))
        name = names.numbers(sound["message"])
        point = np.isin(sound["eventType"], MARKERS) & (sound["startNs"] == sound["endNs"])
        add(places.gather, lanes[~point], sound.where(~point), name[~point])
        if point.any():
            marks = sound.where(point)
            places.gather.instants.append((lanes[point], marks["startNs"], name[point], marks.rowid))
        parts.append(calls(lanes, sound, CONNECTED))
    return joined(parts, CONNECTED)


def read_collections(base: Base, places: Places) -> None:
    name = places.gather.names["GC"] if base.table("GC_RECORD") else 0
    _read_threads(base, places, "GC_RECORD", "Python GC", ("startNs", "endNs", "globalTid"),
                  lambda rows: np.full(len(rows), name, np.int32))  # fmt: skip


def read_system(base: Base, places: Places, names: Names) -> None:
    """Calls of the operating system."""
    _read_threads(base, places, "OSRT_API", "OS Runtime", ("startNs", "endNs", "globalTid", "name"),
                  lambda rows: names.numbers(rows["name"]))  # fmt: skip


def _read_threads(
    base: Base,
    places: Places,
    table: str,
    process: str,
    wanted: tuple[str, ...],
    name: Callable[[Rows], NDArray[np.int32]],
) -> None:
    for rows in blocks(base, table, wanted):
        sound = timed(places.gather, rows)
        lanes = translated(sound["globalTid"], lambda thread: places.thread(process, thread, table, "host"))
        add(places.gather, lanes, sound, name(sound))
