"""Columns of a table as arrays, block by block: from its pages where they are plain, else through sqlite3."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.db.base import BROKEN, quoted
from backends.timeline.db.cells import figures, wholes
from backends.timeline.db.columns import Rows, Wanted, together
from backends.timeline.db.decoding import decoded
from backends.timeline.db.pages import records

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.timeline.db.base import Base
    from backends.timeline.db.pages import Numbers

FETCHED = 20_000  # rows at a time


def blocks(base: Base, name: str, wanted: Sequence[str], real: Sequence[str] = ()) -> Iterator[Rows]:
    """All rows of a table, those columns; nothing where there is no such table. Of a block, rows whose records are
    long come last. Records that cannot be read are counted in `base.damaged`, pages that are missing in `base.lost`."""
    table = base.table(name)
    if table is None:
        return
    columns = Wanted(table=table, wholes=tuple(wanted), figures=tuple(real))
    if not table.plain:
        yield from _selected(base, columns)
        return
    for block in records(base, table):
        rows, odd = decoded(base, columns, block)
        if len(rows):
            yield rows
        if found := [one for rowid in odd.tolist() for one in _looked_up(base, columns, rowid)]:
            yield together(found)


def column_of(base: Base, name: str, *wanted: str) -> tuple[Numbers, ...]:
    """Whole columns of a table, its rowid first."""
    found = list(blocks(base, name, wanted))
    if not found:
        return tuple(np.empty(0, np.int64) for _ in range(len(wanted) + 1))
    return (
        np.concatenate([rows.rowid for rows in found]),
        *(np.concatenate([rows[column] for rows in found]) for column in wanted),
    )


def _looked_up(base: Base, wanted: Wanted, rowid: int) -> Iterator[Rows]:
    """A row whose record is spread over pages, or is too strange: sqlite3 knows all of its format."""
    found = list(_selected(base, wanted, rowid))
    base.damaged += not found
    yield from found


def _selected(base: Base, wanted: Wanted, *only: int) -> Iterator[Rows]:
    """Through sqlite3, all rows or one; what comes before a damaged page counts."""
    condition = " WHERE rowid = ?" if only else ""
    places = wanted.places()
    names = [quoted(wanted.table.place(name)[1]) for _, name, _ in places]  # type: ignore[index]
    columns = ", ".join(["rowid" if wanted.table.rowid else "0", *names])
    try:
        cursor = base.connection.execute(f"SELECT {columns} FROM {quoted(wanted.table.name)}{condition}", only)
        done = 0
        while cells := cursor.fetchmany(FETCHED):
            rowid, *found = zip(*cells, strict=True)
            numbers = wholes(rowid) if wanted.table.rowid else np.arange(done, done + len(cells))
            done += len(cells)
            named = zip(places, found, strict=True)
            parts = {name: figures(part) if real else wholes(part) for (_, name, real), part in named}
            yield wanted.rows(numbers, parts)
    except BROKEN:
        base.lost += not only
