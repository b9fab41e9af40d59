"""Small databases with the tables that a test wants, and what the reader makes of them."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

from backends.timeline.db.reader import read_db
from backends.timeline.gathering import Gathering

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

BASE = 1736410576000000000
TASK = (
    "startNs INTEGER,endNs INTEGER,deviceId INTEGER,connectionId INTEGER,globalTaskId INTEGER,globalPid INTEGER,"
    "taskType INTEGER,contextId INTEGER,streamId INTEGER,taskId INTEGER,modelId INTEGER"
)
CANN_API = "startNs INTEGER,endNs INTEGER,type INTEGER,globalTid INTEGER,connectionId INTEGER PRIMARY KEY,name INTEGER"
PYTORCH_API = (
    "startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER, sequenceNumber INTEGER, "
    "fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER, callchainId INTEGER, type INTEGER"
)
COMMUNICATION_OP = (
    "opName INTEGER,startNs INTEGER,endNs INTEGER,connectionId INTEGER,groupName INTEGER,opId INTEGER PRIMARY KEY"
)
COMMUNICATION_TASK_INFO = (
    "name INTEGER,globalTaskId INTEGER,taskType INTEGER,planeId INTEGER,groupName INTEGER,opId INTEGER"
)
STRING_IDS = "id INTEGER PRIMARY KEY,value TEXT"
THREAD = (77 << 32) | 78

Slice = tuple[str, str, int, int, str, int]  # process, lane, start, end, name, event


def write(path: Path, tables: Mapping[str, tuple[str, Iterable[Sequence[object]]]], before: str = "") -> Path:
    """Table -> (its columns, its rows)."""
    with closing(sqlite3.connect(path)) as base:
        base.executescript(before)
        for name, (columns, rows) in tables.items():
            base.execute(f'CREATE TABLE "{name}" ({columns})')
            for row in rows:
                base.execute(f'INSERT INTO "{name}" VALUES ({",".join("?" * len(row))})', row)
        base.commit()
    return path


def tasks(*rows: Sequence[object]) -> tuple[str, list[list[object]]]:
    """Rows of (start, end, stream): the rest of a task is of no interest."""
    return TASK, [[start, end, 0, 900 + at, at, 1, 5, 0, stream, 0, 0] for at, (start, end, stream) in enumerate(rows)]


def gathered(path: Path) -> Gathering:
    gather = Gathering()
    read_db(path, gather.source(path, "db"), gather, lambda done, total: None)
    return gather


def slices(gather: Gathering, *, computed: bool = False) -> list[Slice]:
    """In the order in which they were added; those that are in a table, or those that were computed."""
    names = list(gather.names)
    rows = []
    for columns in gather.slices:
        for lane, start, end, name, event in zip(*(column.tolist() for column in columns), strict=True):
            described = gather.lanes[lane]
            if (described.table == "computed") == computed:
                process = gather.processes[described.process].name
                rows.append((process, described.name, start, end, names[name], event))
    return rows


def by_table(gather: Gathering) -> Counter[str]:
    counted: Counter[str] = Counter()
    for lane, *_ in [*gather.slices, *gather.instants]:
        counted.update(gather.lanes[number].table for number in lane.tolist())
    return counted


def samples(gather: Gathering) -> dict[str, list[tuple[int, float]]]:
    """Series -> (time, value)."""
    samples: dict[str, list[tuple[int, float]]] = {series.name: [] for series in gather.series}
    for columns in gather.samples:
        for series, time, value in zip(*(column.tolist() for column in columns), strict=True):
            samples[gather.series[series].name].append((time, value))
    return samples


def arrows(gather: Gathering, kind: str) -> set[tuple[int, int]]:
    """(time of the begin, time of the end) of all pairs with one key."""
    kind_number = gather.flow_kinds.get(kind, -1)
    ends: dict[tuple[int, int], list[int]] = {}
    for _, time, key, kinds, phase in gather.ends:
        for when, number, of, part in zip(time.tolist(), key.tolist(), kinds.tolist(), phase.tolist(), strict=True):
            if of == kind_number:
                ends.setdefault((number, part), []).append(when)
    return {(a, b) for (number, part), begins in ends.items() if part == 0 for a in begins for b in ends[number, 2]}


def accounted(gather: Gathering) -> bool:
    """Whether each row is a slice, an instant, a sample, a step, or set aside."""
    row_count = sum(count for table, count in by_table(gather).items() if table != "computed")
    return gather.events == row_count + gather.counter_events + gather.metadata + sum(gather.set_aside.values())
