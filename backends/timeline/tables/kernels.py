"""Rows of kernel_details: shapes, types and metrics of a kernel, found by its exact start and its name.

The rows stay in the file. The index takes 16 bytes per row, so a file of a million rows takes 16 MB.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.tables.cell_values import cell_nanoseconds
from backends.timeline.tables.csv_table import CsvTable, cells_of, without_empty_cells
from backends.timeline.tables.table_files import files_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

PATTERNS = ("kernel_details*.csv", "op_summary*.csv", "task_time*.csv")
KERNEL_SLACK = 1
"""ns: the csv cuts what the trace rounds (hcom_allReduce, ….563 and ….564)."""


@dataclass(frozen=True)
class KernelRows:
    """Rows of one file by start, int64 ns as in the file, and the byte offset of each."""

    table: CsvTable
    start: NDArray[np.int64]
    offset: NDArray[np.int64]

    def row(self, start_ns: int, name: str) -> dict[str, str] | None:
        """Return the row of a kernel, without empty cells; of several at one time that of the same name."""
        for at in self._near(start_ns):
            row = self.table.row_at(int(self.offset[at]))
            if row is not None and self._name_of(row) == name:
                return without_empty_cells(row)
        return None

    def _near(self, start_ns: int) -> list[int]:
        begin = int(np.searchsorted(self.start, start_ns - KERNEL_SLACK))
        end = int(np.searchsorted(self.start, start_ns + KERNEL_SLACK, "right"))
        return sorted(range(begin, end), key=lambda at: abs(int(self.start[at]) - start_ns))

    @cached_property
    def _name(self) -> int:
        return self.table.places["name"]

    def _name_of(self, row: dict[str, str]) -> str:
        return row.get(self.table.columns[self._name], "")


def kernel_rows(folder: Path) -> tuple[KernelRows, ...]:
    """Read each file that has names and starts, once. Unreadable files are left out."""
    tables = []
    for path in files_of(folder, *PATTERNS):
        try:
            kernels = _kernels(CsvTable(path))
        except OSError:
            continue
        tables += [kernels] if kernels is not None else []
    return tuple(tables)


def _kernels(table: CsvTable) -> KernelRows | None:
    at = table.column("Start Time(us)")
    if at is None or table.column("Name") is None:
        return None
    pairs = np.fromiter(_starts(table, at), np.dtype((np.int64, 2)))
    order = np.argsort(pairs[:, 0], kind="stable")
    return KernelRows(table, pairs[order, 0], pairs[order, 1])


def _starts(table: CsvTable, at: int) -> Iterator[tuple[int, int]]:
    for offset, record in table.records():
        start = cell_nanoseconds(_cell(record, at)) if record is not None else None
        if start is not None:
            yield start, offset


def _cell(record: bytes, at: int) -> str:
    """Return one cell, without looking at later ones where no earlier cell is quoted."""
    before = record.split(b",", at + 1)
    if len(before) > at and b'"' not in b"".join(before[: at + 1]):
        return before[at].decode("utf-8", "replace").strip()
    cells = cells_of(record)
    return cells[at] if cells is not None and at < len(cells) else ""
