"""An open database: its tables and columns, found by name, and the file that contains their pages."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

# What sqlite3 raises of a damaged file; names of columns are decoded strictly.
BROKEN = (sqlite3.Error, UnicodeDecodeError, OverflowError)
REPORT_EVERY = 4 << 20  # bytes between two reports

# Old, new and Insight's spellings of one column; compared without case.
COLUMN_ALIASES = {
    "timestampns": ("timestampns", "timestamp"),
    "ddr": ("ddr", "ddrusage"),
    "hbm": ("hbm", "hbmusage"),
    "readbwlevel": ("readbwlevel", "readbandwidth"),
    "writebwlevel": ("writebwlevel", "writebandwidth"),
    "readostlevel": ("readostlevel", "readost"),
    "writeostlevel": ("writeostlevel", "writeost"),
    "blockdim": ("blockdim", "block_dim", "blocknum"),
}


@dataclass(frozen=True, kw_only=True)
class DbTable:
    """`root`: number of the first page. `columns`: lower-case name -> (position in a record, name as written). `plain`:
    records are stored as declared, so pages can be read directly. `rowid`: whether rows have numbers. `identity`:
    position of the column that is an alias of the rowid and so is not stored, or -1."""

    name: str
    root: int
    columns: dict[str, tuple[int, str]]
    plain: bool
    rowid: bool
    identity: int

    def locate(self, column: str) -> tuple[int, str] | None:
        names = COLUMN_ALIASES.get(column.lower(), (column.lower(),))
        return next((self.columns[name] for name in names if name in self.columns), None)


@dataclass(kw_only=True)
class Database:
    """`descriptor`: of the file itself. `usable`: bytes of a page that records may use. `damaged`: records that could
    not be read; `lost`: pages that are missing or hold something else; `is_cut`: the file is shorter than its own head
    says. `report`: takes bytes done and total, and may raise to cancel."""

    path: Path
    connection: sqlite3.Connection
    descriptor: int
    size: int
    page_size: int
    usable: int
    tables: dict[str, DbTable] = field(default_factory=dict)
    damaged: int = 0
    lost: int = 0
    is_cut: bool = False
    done: int = 0
    report: Callable[[int, int], None] | None = None

    def advance(self, read: int) -> None:
        """Report progress every few MB; the callback may raise to cancel."""
        steps = self.done // REPORT_EVERY
        self.done = min(self.done + read, self.size)
        if self.report and self.done // REPORT_EVERY > steps:
            self.report(self.done, self.size)

    def table(self, name: str) -> DbTable | None:
        return self.tables.get(name.upper())

    def rows(self, line: str, values: Iterable[object] = ()) -> list[tuple[object, ...]]:
        """Return the rows of a small table. Unreadable rows are left out."""
        fetched: list[tuple[object, ...]] = []
        try:
            for row in self.connection.execute(line, tuple(values)):
                fetched.append(row)  # noqa: PERF402  what came before the damage counts
        except BROKEN:
            self.lost += 1
        return fetched


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def tables_in(connection: sqlite3.Connection) -> dict[str, DbTable]:
    """Return all real tables, by upper-case name; views and virtual tables hold no data. Raises sqlite3.Error."""
    line = "SELECT name, rootpage, sql FROM sqlite_master WHERE type = 'table' AND rootpage > 1"
    utf8 = connection.execute("PRAGMA encoding").fetchone() == ("UTF-8",)
    listed = connection.execute(line).fetchall()
    return {str(name).upper(): _table(connection, str(name), root, str(sql), utf8) for name, root, sql in listed}


def _table(connection: sqlite3.Connection, name: str, root: int, sql: str, utf8: bool) -> DbTable:
    info = connection.execute(f"PRAGMA table_xinfo({quoted(name)})").fetchall()
    keys = [row for row in info if row[5]]
    identity = keys[0][0] if len(keys) == 1 and str(keys[0][2]).upper() == "INTEGER" else -1
    rowid = "WITHOUT ROWID" not in " ".join(sql.upper().split())
    # A default stands for what older records lack; generated columns may not be stored at all.
    plain = rowid and utf8 and all(row[4] is None and row[6] == 0 for row in info)
    columns = {str(row[1]).lower(): (int(row[0]), str(row[1])) for row in reversed(info)}
    return DbTable(name=name, root=root, columns=columns, plain=plain, rowid=rowid, identity=identity)
