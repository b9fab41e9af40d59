"""What kernel_details says of a kernel: shapes, types, metrics, found by its exact start and its name.

The rows stay in the file. The index holds 16 bytes a row, so that a file of a million rows takes 16 MB.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.tables.cells import nanoseconds
from backends.timeline.tables.folders import files_of
from backends.timeline.tables.table import Table, cells_of, said

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

PATTERNS = ("kernel_details*.csv", "op_summary*.csv", "task_time*.csv")
SLACK = 1
"""ns: the csv cuts what the trace rounds (hcom_allReduce, ….563 and ….564)."""


@dataclass(frozen=True)
class Kernels:
    """Rows of one file by start, int64 ns as the file says it, and the byte at which each begins."""

    table: Table
    start: NDArray[np.int64]
    place: NDArray[np.int64]

    def row(self, start_ns: int, name: str) -> dict[str, str] | None:
        """The row of a kernel, without the cells that say nothing; of several at one time that of the same name."""
        for at in self._near(start_ns):
            row = self.table.row_at(int(self.place[at]))
            if row is not None and self._name_of(row) == name:
                return said(row)
        return None

    def _near(self, start_ns: int) -> list[int]:
        begin = int(np.searchsorted(self.start, start_ns - SLACK))
        end = int(np.searchsorted(self.start, start_ns + SLACK, "right"))
        return sorted(range(begin, end), key=lambda at: abs(int(self.start[at]) - start_ns))

    @cached_property
    def _name(self) -> int:
        return self.table.places["name"]

    def _name_of(self, row: dict[str, str]) -> str:
        return row.get(self.table.columns[self._name], "")


def kernel_rows(folder: Path) -> tuple[Kernels, ...]:
    """One of each file that has names and starts; reads them all once. A file that cannot be read is left out."""
    found = []
    for path in files_of(folder, *PATTERNS):
        try:
            kernels = _kernels(Table(path))
        except OSError:
            continue
        found += [kernels] if kernels is not None else []
    return tuple(found)


def _kernels(table: Table) -> Kernels | None:
    at = table.place("Start Time(us)")
    if at is None or table.place("Name") is None:
        return None
    pairs = np.fromiter(_starts(table, at), np.dtype((np.int64, 2)))
    order = np.argsort(pairs[:, 0], kind="stable")
    return Kernels(table, pairs[order, 0], pairs[order, 1])


def _starts(table: Table, at: int) -> Iterator[tuple[int, int]]:
    for place, record in table.records():
        start = nanoseconds(_cell(record, at)) if record is not None else None
        if start is not None:
            yield start, place


def _cell(record: bytes, at: int) -> str:
    """One cell, without looking at what is behind it where nothing before it is quoted."""
    before = record.split(b",", at + 1)
    if len(before) > at and b'"' not in b"".join(before[: at + 1]):
        return before[at].decode("utf-8", "replace").strip()
    cells = cells_of(record)
    return cells[at] if cells is not None and at < len(cells) else ""
