"""What a database of the profiler holds, counted on its own: sqlite3 and nothing of the product's."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

Times = Counter[tuple[int, int]]
TABLES = ("PYTORCH_API", "CANN_API", "TASK", "COMMUNICATION_OP", "MSTX_EVENTS", "GC_RECORD")
# Tasks of a communication have no times of their own.
OF_TASKS = (
    "SELECT startNs, endNs FROM COMMUNICATION_TASK_INFO JOIN (SELECT globalTaskId AS task, startNs, endNs FROM TASK)"
    " ON task = globalTaskId"
)


def open_raw(path: Path) -> sqlite3.Connection:
    """Leaves no trace beside the file."""
    return sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)


def times(path: Path) -> dict[str, Times]:
    """Table -> (start, end) of each row, for the tables that there are."""
    with closing(open_raw(path)) as base:
        tables = {name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        times_by_table = {name: _times(base, f"SELECT startNs, endNs FROM {name}") for name in TABLES if name in tables}
        if "COMMUNICATION_TASK_INFO" in tables:
            times_by_table["COMMUNICATION_TASK_INFO"] = _times(base, OF_TASKS)
        return times_by_table


def names(path: Path, table: str, column: str) -> Counter[str]:
    """How often each name is used by the rows of a table."""
    line = f"SELECT value, count(*) FROM {table} JOIN STRING_IDS ON STRING_IDS.id = {table}.{column} GROUP BY value"
    with closing(open_raw(path)) as base:
        return Counter(dict(base.execute(line)))


def names_of_tasks(path: Path) -> Counter[str]:
    """How often each name is used by tasks: of the kernel, of the communication that a core waits for, of the type."""
    line = (
        "SELECT coalesce(kernel.value, CASE WHEN kind.value = 'AI_CORE' THEN operation.value END, kind.value) FROM TASK"
        " LEFT JOIN COMPUTE_TASK_INFO info USING (globalTaskId) LEFT JOIN STRING_IDS kernel ON kernel.id = info.name"
        " LEFT JOIN COMMUNICATION_OP op ON op.connectionId = TASK.connectionId"
        " LEFT JOIN STRING_IDS operation ON operation.id = op.opName"
        " LEFT JOIN STRING_IDS kind ON kind.id = TASK.taskType"
    )
    with closing(open_raw(path)) as base:
        return Counter(name for (name,) in base.execute(line))


def rows(path: Path) -> dict[str, int]:
    """Table -> number of rows, of all tables."""
    with closing(open_raw(path)) as base:
        tables = [name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: base.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables}


def _times(base: sqlite3.Connection, line: str) -> Times:
    return Counter((int(start), int(end)) for start, end in base.execute(line))
