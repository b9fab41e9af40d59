"""Columns of a table as arrays, block by block: from its pages where records are plain, else through sqlite3."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.db.cells import figures, wholes
from backends.timeline.db.columns import ColumnBlock, ColumnRequest, join_blocks
from backends.timeline.db.database import BROKEN, quoted
from backends.timeline.db.pages import read_records
from backends.timeline.db.record_decoder import decode_records

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.timeline.db.database import Database
    from backends.timeline.db.pages import Numbers

FETCHED = 20_000  # rows at a time


def read_blocks(base: Database, name: str, names: Sequence[str], real: Sequence[str] = ()) -> Iterator[ColumnBlock]:
    """Yield those columns of all rows of a table; nothing where the table is missing. Within a block, rows with long
    records come last. Unreadable records are counted in `base.damaged`, missing pages in `base.lost`."""
    table = base.table(name)
    if table is None:
        return
    columns = ColumnRequest(table=table, wholes=tuple(names), figures=tuple(real))
    if not table.plain:
        yield from _select(base, columns)
        return
    for block in read_records(base, table):
        rows, unusual = decode_records(base, columns, block)
        if len(rows):
            yield rows
        if single_rows := [row for rowid in unusual.tolist() for row in _select_row(base, columns, rowid)]:
            yield join_blocks(single_rows)


def read_columns(base: Database, name: str, *columns: str) -> tuple[Numbers, ...]:
    """Return whole columns of a table, its rowid first."""
    parts = list(read_blocks(base, name, columns))
    if not parts:
        return tuple(np.empty(0, np.int64) for _ in range(len(columns) + 1))
    return (
        np.concatenate([rows.rowid for rows in parts]),
        *(np.concatenate([rows[column] for rows in parts]) for column in columns),
    )


def _select_row(base: Database, request: ColumnRequest, rowid: int) -> Iterator[ColumnBlock]:
    """Read a row whose record spans pages or is unusual through sqlite3, which knows the whole format."""
    rows = list(_select(base, request, rowid))
    base.damaged += not rows
    yield from rows


def _select(base: Database, request: ColumnRequest, *only: int) -> Iterator[ColumnBlock]:
    """Read all rows or one through sqlite3; rows before a damaged page count."""
    condition = " WHERE rowid = ?" if only else ""
    places = request.places()
    names = [quoted(request.table.locate(name)[1]) for _, name, _ in places]  # type: ignore[index]
    columns = ", ".join(["rowid" if request.table.rowid else "0", *names])
    try:
        cursor = base.connection.execute(f"SELECT {columns} FROM {quoted(request.table.name)}{condition}", only)
        done = 0
        while cells := cursor.fetchmany(FETCHED):
            rowid, *cell_columns = zip(*cells, strict=True)
            numbers = wholes(rowid) if request.table.rowid else np.arange(done, done + len(cells))
            done += len(cells)
            named = zip(places, cell_columns, strict=True)
            parts = {name: figures(part) if real else wholes(part) for (_, name, real), part in named}
            yield request.rows(numbers, parts)
    except BROKEN:
        base.lost += not only
