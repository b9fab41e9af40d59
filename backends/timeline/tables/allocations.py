"""Device memory that an operator took, from operator_memory: rows with its name within its time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.timeline.tables.cell_values import cell_nanoseconds
from backends.timeline.tables.csv_table import CsvTable, without_empty_cells
from backends.timeline.tables.table_files import files_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

ALLOCATION_FILES = "operator_memory*.csv"
MAX_ROWS = 4
"""Rows that are shown of one operator."""


@dataclass(frozen=True)
class Allocations:
    """`of_name`: (time in ns, byte offset of the row), in order of time."""

    table: CsvTable
    of_name: Mapping[str, Sequence[tuple[int, int]]]

    def rows(self, name: str, start_ns: int, duration_ns: int) -> list[dict[str, str]]:
        """Return the first MAX_ROWS of them, without empty cells."""
        all_of_it = self.of_name.get(name, ())
        begin = bisect_left(all_of_it, (start_ns, 0))
        end = bisect_right(all_of_it, (start_ns + duration_ns + 1, 0))
        candidates = (self.table.row_at(offset) for _, offset in all_of_it[begin:end][:MAX_ROWS])
        return [without_empty_cells(row) for row in candidates if row is not None]


def allocations(folder: Path) -> tuple[Allocations, ...]:
    """Read each file that has names and times, once. Unreadable files are left out."""
    tables = []
    for path in files_of(folder, ALLOCATION_FILES):
        try:
            read = _allocations(CsvTable(path))
        except OSError:
            continue
        tables += [read] if read is not None else []
    return tuple(tables)


def _allocations(table: CsvTable) -> Allocations | None:
    name, time = table.column("Name"), table.column("Allocation Time(us)")
    if name is None or time is None:
        return None
    of_name: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for offset, record in table.records():
        cells = table.cells(record)
        when = cell_nanoseconds(cells[time]) if cells is not None else None
        if cells is not None and when is not None:
            of_name[cells[name]].append((when, offset))
    return Allocations(table, {name: sorted(rows) for name, rows in of_name.items()})
