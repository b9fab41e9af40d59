"""All that a database knows of one row."""

from __future__ import annotations

import re
from time import monotonic
from typing import TYPE_CHECKING

from backends.timeline.db.base import quoted
from backends.timeline.db.opening import opened

if TYPE_CHECKING:
    from pathlib import Path

    from backends.timeline.db.base import Base, Table

Row = dict[str, object]

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
BESIDE = ("COMPUTE_TASK_INFO", "COMMUNICATION_TASK_INFO", "COMMUNICATION_SCHEDULE_TASK_INFO", "MEMCPY_INFO")
SHAPES = re.compile(r"[0-9,;\s]*")
PATIENCE = 2.0  # seconds
MOST = 10_000  # rows that belong to one: metrics, frames


def row_of(path: Path, table: str, rowid: int) -> Row | None:
    """The columns of a row, ids resolved to texts, and what other tables say of it: of a task its kernel or its part of
    a communication and `metrics` {name: value}, of a call its `callStack`, a list of "path(line): function", innermost
    first. None where there is no such row. Raises StudioError where the file can no longer be read."""
    with opened(path) as base:
        _limit(base)
        known = base.table(table)
        if known is None or not known.rowid:
            return None
        row = _first(base, known, "rowid", rowid)
        if row is None:
            return None
        task = row.get("globalTaskId")
        if isinstance(task, int):
            for name in (*BESIDE, "TASK"):
                if name != known.name.upper():
                    row = _joined(base, row, name, task)
            row |= _metrics(base, task)
        return _turned(_resolved(base, row)) | _stack(base, row.get("callchainId"))


def _limit(base: Base) -> None:
    """A table without an index is looked through row by row: not for longer than somebody waits for details."""
    until = monotonic() + PATIENCE
    base.connection.set_progress_handler(lambda: monotonic() > until, 100_000)


def _first(base: Base, table: Table, column: str, value: object) -> Row | None:
    found = base.rows(f"SELECT * FROM {quoted(table.name)} WHERE {column} = ? LIMIT 1", (value,))
    names = [name for _, name in sorted(table.columns.values())]
    return dict(zip(names, found[0], strict=False)) if found else None


def _joined(base: Base, row: Row, name: str, task: int) -> Row:
    """The row's own columns go first: a part of a communication has its own name and type."""
    table = base.table(name)
    place = table.place("globalTaskId") if table else None
    other = _first(base, table, quoted(place[1]), task) if table and place else None
    return {**(other or {}), **row}


def _metrics(base: Base, task: int) -> Row:
    table = base.table("TASK_PMU_INFO")
    columns = [table.place(name) for name in ("globalTaskId", "name", "value")] if table else []
    if table is None or None in columns:
        return {}
    key, name, value = (quoted(column[1]) for column in columns if column)
    before = base.lost
    found = base.rows(f"SELECT {name}, {value} FROM {quoted(table.name)} WHERE {key} = ? LIMIT {MOST}", (task,))
    if base.lost > before:  # some of the metrics only would pass for all of them
        return {}
    return {"metrics": {_text(base, number): figure for number, figure in found}} if found else {}


def _stack(base: Base, chain: object) -> Row:
    table = base.table("PYTORCH_CALLCHAINS")
    columns = [table.place(name) for name in ("id", "stack", "stackDepth")] if table else []
    if table is None or None in columns or not isinstance(chain, int):
        return {}
    key, stack, depth = (quoted(column[1]) for column in columns if column)
    line = f"SELECT {stack} FROM {quoted(table.name)} WHERE {key} = ? ORDER BY {depth} LIMIT {MOST}"
    found = [str(_text(base, number)) for (number,) in base.rows(line, (chain,))]
    return {"callStack": found} if found else {}


def _resolved(base: Base, row: Row) -> Row:
    return {column: _value(base, column, value) for column, value in row.items()}


def _turned(row: Row) -> Row:
    """Some versions of torch_npu write the shapes of a call as its types, and the types as its shapes."""
    types, shapes = row.get("inputDtypes"), row.get("inputShapes")
    if isinstance(types, str) and isinstance(shapes, str) and not SHAPES.fullmatch(shapes) and SHAPES.fullmatch(types):
        return {**row, "inputDtypes": shapes, "inputShapes": types}
    return row


def _value(base: Base, column: str, value: object) -> object:
    if not isinstance(value, int):
        return value
    if column in NAMED:
        return _text(base, value)
    return _text(base, value, ENUMS[column], "name") if column in ENUMS else value


def _text(base: Base, number: object, table: str = "STRING_IDS", column: str = "value") -> object:
    """The text of an id, or the id where there is none."""
    known = base.table(table)
    key, value = (known.place("id"), known.place(column)) if known else (None, None)
    if known is None or key is None or value is None or not isinstance(number, int):
        return number
    line = f"SELECT {quoted(value[1])} FROM {quoted(known.name)} WHERE {quoted(key[1])} = ? LIMIT 1"
    found = base.rows(line, (number,))
    return found[0][0] if found else number
