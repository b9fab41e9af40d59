"""Everything that a database knows about one row."""

from __future__ import annotations

import re
from time import monotonic
from typing import TYPE_CHECKING

from backends.timeline.db.database import quoted
from backends.timeline.db.opening import open_database

if TYPE_CHECKING:
    from pathlib import Path

    from backends.timeline.db.database import Database, DbTable

DbRow = dict[str, object]

# Columns that hold ids of STRING_IDS; `type` and `mode` only in the tables named.
NAMED = frozenset(
    ("name", "taskType", "opType", "inputFormats", "inputDataTypes", "inputShapes", "outputFormats", "outputDataTypes",
     "outputShapes", "attrInfo", "opState", "hf32Eligible", "groupName", "opName", "algType", "message", "domainId",
     "inputDtypes", "operatorName", "component")
)  # fmt: skip
# Column -> the table that names its values.
ENUMS = {
    "type": "ENUM_API_TYPE", "dataType": "ENUM_HCCL_DATA_TYPE", "linkType": "ENUM_HCCL_LINK_TYPE",
    "transportType": "ENUM_HCCL_TRANSPORT_TYPE", "rdmaType": "ENUM_HCCL_RDMA_TYPE",
    "eventType": "ENUM_MSTX_EVENT_TYPE", "memcpyOperation": "ENUM_MEMCPY_OPERATION",
}  # fmt: skip
TASK_TABLES = ("COMPUTE_TASK_INFO", "COMMUNICATION_TASK_INFO", "COMMUNICATION_SCHEDULE_TASK_INFO", "MEMCPY_INFO")
SHAPES = re.compile(r"[0-9,;\s]*")
MAX_SECONDS = 2.0  # seconds
MAX_BELONGING = 10_000  # rows that belong to one: metrics, frames


def row_of(path: Path, table: str, rowid: int) -> DbRow | None:
    """Return the columns of a row with ids resolved to texts, and what other tables say about it: for a task its kernel
    or its communication operator and `metrics` {name: value}, for a call its `callStack`, a list of "path(line):
    function", innermost first. None where the row does not exist. Raises StudioError where the file can no longer be
    read."""
    with open_database(path) as base:
        _limit(base)
        table_of_row = base.table(table)
        if table_of_row is None or not table_of_row.rowid:
            return None
        row = _first(base, table_of_row, "rowid", rowid)
        if row is None:
            return None
        task = row.get("globalTaskId")
        if isinstance(task, int):
            for name in (*TASK_TABLES, "TASK"):
                if name != table_of_row.name.upper():
                    row = _joined(base, row, name, task)
            row |= _metrics(base, task)
        return _turned(_resolved(base, row)) | _stack(base, row.get("callchainId"))


def _limit(base: Database) -> None:
    """Limit the time of queries: a table without an index is searched row by row."""
    until = monotonic() + MAX_SECONDS
    base.connection.set_progress_handler(lambda: monotonic() > until, 100_000)


def _first(base: Database, table: DbTable, column: str, value: object) -> DbRow | None:
    rows = base.rows(f"SELECT * FROM {quoted(table.name)} WHERE {column} = ? LIMIT 1", (value,))
    names = [name for _, name in sorted(table.columns.values())]
    return dict(zip(names, rows[0], strict=False)) if rows else None


def _joined(base: Database, row: DbRow, name: str, task: int) -> DbRow:
    """Merge a row of another table; the row's own columns take precedence, since a part of a communication operator has
    its own name and type."""
    table = base.table(name)
    key = table.locate("globalTaskId") if table else None
    other = _first(base, table, quoted(key[1]), task) if table and key else None
    return {**(other or {}), **row}


def _metrics(base: Database, task: int) -> DbRow:
    table = base.table("TASK_PMU_INFO")
    columns = [table.locate(name) for name in ("globalTaskId", "name", "value")] if table else []
    if table is None or None in columns:
        return {}
    key, name, value = (quoted(column[1]) for column in columns if column)
    before = base.lost
    rows = base.rows(f"SELECT {name}, {value} FROM {quoted(table.name)} WHERE {key} = ? LIMIT {MAX_BELONGING}", (task,))
    if base.lost > before:  # some of the metrics only would pass for all of them
        return {}
    return {"metrics": {_text(base, number): figure for number, figure in rows}} if rows else {}


def _stack(base: Database, chain: object) -> DbRow:
    table = base.table("PYTORCH_CALLCHAINS")
    columns = [table.locate(name) for name in ("id", "stack", "stackDepth")] if table else []
    if table is None or None in columns or not isinstance(chain, int):
        return {}
    key, stack, depth = (quoted(column[1]) for column in columns if column)
    line = f"SELECT {stack} FROM {quoted(table.name)} WHERE {key} = ? ORDER BY {depth} LIMIT {MAX_BELONGING}"
    frames = [str(_text(base, number)) for (number,) in base.rows(line, (chain,))]
    return {"callStack": frames} if frames else {}


def _resolved(base: Database, row: DbRow) -> DbRow:
    return {column: _value(base, column, value) for column, value in row.items()}


def _turned(row: DbRow) -> DbRow:
    """Swap shapes and types of a call, which some versions of torch_npu write the wrong way round."""
    types, shapes = row.get("inputDtypes"), row.get("inputShapes")
    if isinstance(types, str) and isinstance(shapes, str) and not SHAPES.fullmatch(shapes) and SHAPES.fullmatch(types):
        return {**row, "inputDtypes": shapes, "inputShapes": types}
    return row


def _value(base: Database, column: str, value: object) -> object:
    if not isinstance(value, int):
        return value
    if column in NAMED:
        return _text(base, value)
    return _text(base, value, ENUMS[column], "name") if column in ENUMS else value


def _text(base: Database, number: object, table: str = "STRING_IDS", column: str = "value") -> object:
    """Return the text of an id, or the id where there is none."""
    names = base.table(table)
    key, value = (names.locate("id"), names.locate(column)) if names else (None, None)
    if names is None or key is None or value is None or not isinstance(number, int):
        return number
    line = f"SELECT {quoted(value[1])} FROM {quoted(names.name)} WHERE {quoted(key[1])} = ? LIMIT 1"
    rows = base.rows(line, (number,))
    return rows[0][0] if rows else number
