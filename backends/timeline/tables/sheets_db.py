"""Tables of an analysis database: analysis.db of a rank, cluster_analysis.db of all, whatever recipe wrote them."""

from __future__ import annotations

import sqlite3
import sys
from typing import TYPE_CHECKING

from backends.timeline.db.database import BROKEN, quoted
from backends.timeline.db.opening import open_database
from backends.timeline.tables.sheet_builder import SheetBuilder
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from backends.timeline.db.database import Database, DbTable

LONGEST_CELL = 1 << 20  # bytes of a cell
LONGEST_BLOB = 64
ROWS_AT_ONCE = 1 << 8
OURS = "SQLITE_"


def tables_with_rows(path: Path) -> tuple[str, ...]:
    """Return the tables with rows, in order of name. Raises StudioError as `open_database` does."""
    with open_database(path) as base:
        tables = (table for name, table in base.tables.items() if not name.startswith(OURS))
        return tuple(sorted((table.name for table in tables if _has_rows(base, table)), key=str.lower))


def _has_rows(base: Database, table: DbTable) -> bool:
    return bool(table.columns) and bool(base.rows(f"SELECT 1 FROM {quoted(table.name)} LIMIT 1"))


def read_db_sheet(path: Path, name: str, max_rows: int) -> SheetBuilder:
    """Read a table. Raises StudioError as `open_database` does, and where the table is missing."""
    with open_database(path) as base:
        table = base.table(name)
        if table is None:
            raise StudioError("timeline.tables_pane.gone", place=str(path), table=name)
        if sys.version_info >= (3, 11):
            base.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_CELL)
        making = SheetBuilder([column for _, column in sorted(table.columns.values())], max_rows)
        for rows in _batches(base, table):
            making.add([[_text(cell) for cell in column] for column in zip(*rows, strict=True)])
            if making.is_full:
                break
        making.total = _count(base, table)
        return making


def _batches(base: Database, table: DbTable) -> Iterator[list[tuple[object, ...]]]:
    """Yield rows; those before a damaged page count."""
    try:
        cursor = base.connection.execute(f"SELECT * FROM {quoted(table.name)}")
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            yield rows
    except BROKEN:
        return


def _count(base: Database, table: DbTable) -> int:
    counted = base.rows(f"SELECT count(*) FROM {quoted(table.name)}")
    return int(str(counted[0][0])) if counted else 0


def _text(cell: object) -> str:
    if isinstance(cell, bytes):
        return cell[:LONGEST_BLOB].hex()
    return "" if cell is None else str(cell)
