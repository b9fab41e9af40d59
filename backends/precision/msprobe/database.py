"""Reads a SQLite file that somebody sent: read-only, nothing beside it is made, and no query without an end."""

from __future__ import annotations

import sqlite3
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUERY_SECONDS = 10.0
OPERATIONS = 100_000
LARGEST_CELL = 16_000_000


@contextmanager
def open_database(path: Path) -> Iterator[sqlite3.Connection]:
    """Raises StudioError where it is no such database, or a query takes longer than SECONDS. `immutable`: without it
    SQLite would make a journal beside a file of another program."""
    if not path.is_file():
        raise StudioError("precision.msprobe.no_database", place=str(path), reason="–")
    uri = f"file:{quote(str(path.absolute()), safe='/')}?mode=ro&immutable=1"
    try:
        connection = sqlite3.connect(uri, uri=True)
    except sqlite3.Error as error:
        raise StudioError("precision.msprobe.no_database", place=str(path), reason=str(error)) from error
    try:
        _restrain(connection)
        yield connection
    except (sqlite3.Error, OverflowError, UnicodeError) as error:
        raise StudioError("precision.msprobe.no_database", place=str(path), reason=str(error)[:200]) from error
    finally:
        connection.close()


def _restrain(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    if sys.version_info >= (3, 11):
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_CELL)
    end = time.monotonic() + QUERY_SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > end, OPERATIONS)


def has_tables(connection: sqlite3.Connection, *names: str) -> bool:
    """Tables, not views: a view is somebody's program."""
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return tables.issuperset(names)


def cell_text(value: Any) -> str:
    return "" if value is None else str(value)
