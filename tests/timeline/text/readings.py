"""What the reader makes of a text, in words: tuples that a test can write down."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.timeline.gathering import Gathering
from backends.timeline.text.pieces import PIECE
from backends.timeline.text.reader import read_text

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Gathered:
    """Lanes are "pid/tid"."""

    gather: Gathering

    def lane(self, number: int) -> str:
        lane = self.gather.lanes[number]
        return f"{self.gather.processes[lane.process].pid}/{lane.tid}"

    @property
    def slices(self) -> list[tuple[str, str, int, int]]:
        """Lane, name, start, end, in order of the events."""
        names = list(self.gather.names)
        rows = sorted(rows_of(self.gather.slices), key=lambda row: row[4])
        return [(self.lane(lane), names[name], start, end) for lane, start, end, name, _ in rows]

    @property
    def instants(self) -> list[tuple[str, str, int]]:
        names = list(self.gather.names)
        return [(self.lane(lane), names[name], time) for lane, time, name, _ in rows_of(self.gather.instants)]

    @property
    def ends(self) -> list[tuple[str, int, int, str, int]]:
        """Lane, time, key, kind, phase."""
        kinds = list(self.gather.flow_kinds)
        return [
            (self.lane(lane), time, key, kinds[kind], ph) for lane, time, key, kind, ph in rows_of(self.gather.ends)
        ]

    @property
    def samples(self) -> list[tuple[str, str, str, int, float]]:
        """Pid, name, unit, time, value."""
        return [(*self._series(series), time, value) for series, time, value in rows_of(self.gather.samples)]

    def _series(self, number: int) -> tuple[str, str, str]:
        series = self.gather.series[number]
        return self.gather.processes[series.process].pid, series.name, series.unit

    @property
    def aside(self) -> dict[str, int]:
        return {reason.rpartition(".")[2]: count for reason, count in self.gather.set_aside.items() if count}

    @property
    def chunks(self) -> Any:
        return np.array(self.gather.sources[0].chunks, np.int64).reshape(-1, 3)

    @property
    def truncated(self) -> bool:
        return self.gather.sources[0].truncated


def rows_of(columns: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [row for each in columns for row in zip(*(column.tolist() for column in each), strict=True)]


def read(path: Path, piece: int = PIECE) -> Gathered:
    gather = Gathering()
    read_text(path, gather.source(path, "text"), gather, lambda _done, _of: None, piece)
    return Gathered(gather)


def read_data(folder: Path, data: bytes | str | list[Any] | dict[str, Any], piece: int = PIECE) -> Gathered:
    if isinstance(data, (list, dict)):
        data = json.dumps(data)
    path = folder / "trace_view.json"
    path.write_bytes(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)
    return read(path, piece)


def x(name: str = "a", ts: Any = "1736412474714258.990", dur: Any = 1.5, **other: Any) -> dict[str, Any]:
    return {"ph": "X", "name": name, "pid": 1, "tid": 2, "ts": ts, "dur": dur} | other


TS = 1736412474714258990  # of x
