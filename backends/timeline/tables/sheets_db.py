"""The tables of an analysis in a database: analysis.db of a rank, cluster_analysis.db of all, whatever recipe wrote
them."""

from __future__ import annotations

import sqlite3
import sys
from typing import TYPE_CHECKING

from backends.timeline.db.base import BROKEN, quoted
from backends.timeline.db.opening import opened
from backends.timeline.tables.sheet_making import Making
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from backends.timeline.db.base import Base, Table

LONGEST = 1 << 20  # bytes of a cell
LONGEST_BLOB = 64
BATCH = 1 << 8
OURS = "SQLITE_"


def tables_with_rows(path: Path) -> tuple[str, ...]:
    """In the order of their names. Raises StudioError as `opened` does."""
    with opened(path) as base:
        found = (table for name, table in base.tables.items() if not name.startswith(OURS))
        return tuple(sorted((table.name for table in found if _has_rows(base, table)), key=str.lower))


def _has_rows(base: Base, table: Table) -> bool:
    return bool(table.columns) and bool(base.rows(f"SELECT 1 FROM {quoted(table.name)} LIMIT 1"))


def read_table(path: Path, name: str, most: int) -> Making:
    """Raises StudioError as `opened` does, and where there is no such table (any more)."""
    with opened(path) as base:
        table = base.table(name)
        if table is None:
            raise StudioError("timeline.tables_pane.gone", place=str(path), table=name)
        if sys.version_info >= (3, 11):
            base.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
        making = Making([column for _, column in sorted(table.columns.values())], most)
        for rows in _batches(base, table):
            making.add([[_text(cell) for cell in column] for column in zip(*rows, strict=True)])
            if making.is_full:
                break
        making.total = _count(base, table)
        return making


def _batches(base: Base, table: Table) -> Iterator[list[tuple[object, ...]]]:
    """What came before a damage counts."""
    try:
        cursor = base.connection.execute(f"SELECT * FROM {quoted(table.name)}")
        while rows := cursor.fetchmany(BATCH):
            yield rows
    except BROKEN:
        return


def _count(base: Base, table: Table) -> int:
    counted = base.rows(f"SELECT count(*) FROM {quoted(table.name)}")
    return int(str(counted[0][0])) if counted else 0


def _text(cell: object) -> str:
    if isinstance(cell, bytes):
        return cell[:LONGEST_BLOB].hex()
    return "" if cell is None else str(cell)
