"""Reading of a sheet: a csv file, a part of a json file or a table of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.tables.csv_table import CsvTable
from backends.timeline.tables.sheet_builder import SheetBuilder
from backends.timeline.tables.sheets_db import read_db_sheet
from backends.timeline.tables.sheets_json import read_json_sheet
from studio import files
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from pathlib import Path

    from backends.timeline.tables.sheet_rows import SheetRows
    from backends.timeline.tables.sheets import Sheet

MAX_ROWS = 100_000
MAX_CSV_COLUMNS = 500
COUNT_BLOCK = 4 << 20


def read_sheet(sheet: Sheet, max_rows: int = MAX_ROWS) -> SheetRows:
    """Read the first rows of a sheet, as many as fit into memory. Raises StudioError where it cannot be read (any
    more)."""
    try:
        return _read(sheet, max_rows).rows()
    except OSError as error:
        raise from_os(error, sheet.path) from error


def _read(sheet: Sheet, max_rows: int) -> SheetBuilder:
    if sheet.path.suffix == ".csv":
        return _read_csv(sheet.path, max_rows)
    if sheet.path.suffix == ".json":
        return read_json_sheet(sheet.path, sheet.table, max_rows)
    return read_db_sheet(sheet.path, sheet.table, max_rows)


def _read_csv(path: Path, max_rows: int) -> SheetBuilder:
    table = CsvTable(path)
    if not any(table.columns):
        raise StudioError("timeline.tables_pane.no_head", place=str(path))
    making = SheetBuilder(table.columns[:MAX_CSV_COLUMNS], max_rows)
    for columns, damaged in table.blocks():
        making.add(columns[:MAX_CSV_COLUMNS])
        making.damaged += damaged
        if making.is_full:
            making.total = _records(path)
            break
    return making


def _records(path: Path) -> int:
    """Count the records after the head: lines, without those that end inside quotes."""
    count, inside = 0, 0
    with files.open_regular(path) as file:
        while block := file.read(COUNT_BLOCK):
            if inside == 0 and b'"' not in block:
                count += block.count(b"\n")
                continue
            data = np.frombuffer(block, np.uint8)
            is_inside = (np.cumsum(data == ord('"'), dtype=np.uint8) + np.uint8(inside)) & 1
            count += int(np.count_nonzero((data == ord("\n")) & (is_inside == 0)))
            inside = int(is_inside[-1])
    return max(0, count - 1)
