"""Rows of operator_details: shapes, call stack and device time of an operator on the host.

The rows have no times: a slice is found by its name and its exact duration, and among equals by its turn.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.timeline.tables.cell_values import cell_nanoseconds
from backends.timeline.tables.csv_table import CsvTable, without_empty_cells
from backends.timeline.tables.table_files import files_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

OPERATOR_FILES = "operator_details*.csv"
DURATION = "Host Total Duration(us)"


@dataclass(frozen=True)
class Operators:
    """`places`: (name, duration in ns) -> byte offsets of the rows, in file order."""

    table: CsvTable
    places: Mapping[tuple[str, int], Sequence[int]]

    def row(self, name: str, duration_ns: int, turn: int | None = None) -> dict[str, str] | None:
        """Return the row of a slice. `turn`: its number among the slices of the same name and duration, by start.
        Without it, None is returned where several rows match."""
        places = self.places.get((name, duration_ns), ())
        if turn is None:
            turn = 0 if len(places) == 1 else -1
        if not 0 <= turn < len(places):
            return None
        row = self.table.row_at(places[turn])
        return without_empty_cells(row) if row is not None else None


def operator_rows(folder: Path) -> tuple[Operators, ...]:
    """Read each file that has names and durations, once. Unreadable files are left out."""
    tables = []
    for path in files_of(folder, OPERATOR_FILES):
        try:
            operators = _operators(CsvTable(path))
        except OSError:
            continue
        tables += [operators] if operators is not None else []
    return tuple(tables)


def _operators(table: CsvTable) -> Operators | None:
    name, duration = table.column("Name"), table.column(DURATION)
    if name is None or duration is None:
        return None
    places: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for offset, record in table.records():
        cells = table.cells(record)
        took = cell_nanoseconds(cells[duration]) if cells is not None else None
        if cells is not None and took is not None:
            places[cells[name], took].append(offset)
    return Operators(table, dict(places))
