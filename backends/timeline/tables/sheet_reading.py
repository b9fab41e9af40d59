"""Reading a sheet: a csv, a part of a json or a table of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.tables.sheet_making import Making
from backends.timeline.tables.sheets_db import read_table
from backends.timeline.tables.sheets_json import read_json
from backends.timeline.tables.table import Table
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from pathlib import Path

    from backends.timeline.tables.sheet_rows import Rows
    from backends.timeline.tables.sheets import Sheet

MOST = 100_000
MOST_COLUMNS = 500
BLOCK = 4 << 20


def read_sheet(sheet: Sheet, most: int = MOST) -> Rows:
    """The first rows of a sheet, as many as fit into memory. Raises StudioError where it cannot be read (any more)."""
    try:
        return _read(sheet, most).rows()
    except OSError as error:
        raise from_os(error, sheet.path) from error


def _read(sheet: Sheet, most: int) -> Making:
    if sheet.path.suffix == ".csv":
        return _read_csv(sheet.path, most)
    if sheet.path.suffix == ".json":
        return read_json(sheet.path, sheet.table, most)
    return read_table(sheet.path, sheet.table, most)


def _read_csv(path: Path, most: int) -> Making:
    table = Table(path)
    if not any(table.columns):
        raise StudioError("timeline.tables_pane.no_head", place=str(path))
    making = Making(table.columns[:MOST_COLUMNS], most)
    for columns, damaged in table.blocks():
        making.add(columns[:MOST_COLUMNS])
        making.damaged += damaged
        if making.is_full:
            making.total = _records(path)
            break
    return making


def _records(path: Path) -> int:
    """How many there are behind the head: lines, without those that end inside quotes."""
    count, inside = 0, 0
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            if inside == 0 and b'"' not in block:
                count += block.count(b"\n")
                continue
            data = np.frombuffer(block, np.uint8)
            odd = (np.cumsum(data == ord('"'), dtype=np.uint8) + np.uint8(inside)) & 1
            count += int(np.count_nonzero((data == ord("\n")) & (odd == 0)))
            inside = int(odd[-1])
    return max(0, count - 1)
