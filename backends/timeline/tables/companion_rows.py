"""Rows of the tables next to a trace that describe one slice."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from backends.timeline.tables.allocations import allocations
from backends.timeline.tables.communication import Communication, communications
from backends.timeline.tables.csv_table import EMPTY_CELLS, CsvTable, without_empty_cells
from backends.timeline.tables.kernels import kernel_rows
from backends.timeline.tables.operators import operator_rows
from backends.timeline.tables.table_files import files_of

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from backends.timeline.tables.allocations import Allocations
    from backends.timeline.tables.communication import Communications
    from backends.timeline.tables.kernels import KernelRows
    from backends.timeline.tables.operators import Operators


STREAM, TASK = ("Physic Stream Id", "Stream Id", "stream id"), ("Task Id", "task id")


@dataclass(frozen=True, kw_only=True)
class CompanionRow:
    """`table`: name of the file. `cells`: by the column names of the file, without empty cells."""

    table: str
    cells: Mapping[str, str]


@dataclass(frozen=True)
class CompanionTables:
    """The tables of one folder; each is read on first use."""

    folder: Path

    @cached_property
    def kernels(self) -> tuple[KernelRows, ...]:
        return kernel_rows(self.folder)

    @cached_property
    def operators(self) -> tuple[Operators, ...]:
        return operator_rows(self.folder)

    @cached_property
    def communications(self) -> tuple[Communications, ...]:
        return communications(self.folder)

    @cached_property
    def caches(self) -> Mapping[TaskKey, dict[str, str]]:
        return cache_rows(self.folder)

    @cached_property
    def allocations(self) -> tuple[Allocations, ...]:
        return allocations(self.folder)

    @cached_property
    def named(self) -> tuple[tuple[str, Mapping[str, dict[str, str]]], ...]:
        return named_rows(self.folder)

    def of_device(self, name: str, start_ns: int, args: Mapping[str, object]) -> Iterator[CompanionRow]:
        for kernels in self.kernels:
            if row := kernels.row(start_ns, name):
                yield CompanionRow(table=kernels.table.path.name, cells=row)
        for file in self.communications:
            if operator := file.find(name, start_ns):
                yield CompanionRow(table=file.path.name, cells=_communication_cells(operator))
        if rates := self.caches.get((_text(args, STREAM), _text(args, TASK), name)):
            yield CompanionRow(table="l2_cache.csv", cells=rates)

    def of_host(self, name: str, start_ns: int, duration_ns: int, turn: int | None) -> Iterator[CompanionRow]:
        for operators in self.operators:
            if row := operators.row(name, duration_ns, turn):
                yield CompanionRow(table=operators.table.path.name, cells=row)
        for memory in self.allocations:
            for row in memory.rows(name, start_ns, duration_ns):
                yield CompanionRow(table=memory.table.path.name, cells=row)
        for file, rows in self.named:
            if name in rows:
                yield CompanionRow(table=file, cells=rows[name])


def find_companion_rows(
    folder: Path, *, name: str, start_ns: int, duration_ns: int, args: Mapping[str, object], turn: int | None = None
) -> tuple[CompanionRow, ...]:
    """Return the rows that describe a slice. `folder`: of the trace. `start_ns`: as the source counts, not since the
    origin. `turn`: see `Operators.row`. The first call for a folder reads its tables: not for the UI thread."""
    tables = _companion_tables(folder, _state(folder))
    return (*tables.of_device(name, start_ns, args), *tables.of_host(name, start_ns, duration_ns, turn))


@lru_cache(maxsize=8)
def _companion_tables(folder: Path, state: object) -> CompanionTables:
    del state  # only part of the key: a changed table is read again
    return CompanionTables(folder)


def _state(folder: Path) -> tuple[tuple[str, int, int], ...]:
    return tuple(
        (path.name, status.st_size, status.st_mtime_ns)
        for path in files_of(folder, "*.csv", "communication.json")
        for status in _status(path)
    )


def _status(path: Path) -> tuple[os.stat_result, ...]:
    try:
        return (path.stat(),)
    except OSError:
        return ()


def _text(args: Mapping[str, object], names: tuple[str, ...]) -> str:
    return next((str(args[name]) for name in names if name in args), "")


def _communication_cells(operator: Communication) -> dict[str, str]:
    cells = {"Group": operator.group} | {name: f"{value:.6g}" for name, value in operator.figures.items()}
    for link in operator.links:
        cells[f"{link.kind} Transit Size(MB)"] = f"{link.size:.6g}"
        cells[f"{link.kind} Transit Time(ms)"] = f"{link.time:.6g}"
        cells[f"{link.kind} Bandwidth(GB/s)"] = f"{link.bandwidth:.6g}"
        cells[f"{link.kind} Large Packet Ratio"] = f"{link.large:.6g}"
    return cells


CACHE_FILES = "l2_cache*.csv"
TaskKey = tuple[str, str, str]  # stream, task, name


def cache_rows(folder: Path) -> Mapping[TaskKey, dict[str, str]]:
    """Return the L2 cache rates of l2_cache.csv by stream, task and name. Task numbers repeat in long traces: a key
    that occurs more than once is dropped."""
    rates: dict[TaskKey, dict[str, str]] = {}
    twice: set[TaskKey] = set()
    for path in files_of(folder, CACHE_FILES):
        for key, row in _cache_rows(CsvTable(path)):
            twice |= {key} & rates.keys()
            rates[key] = row
    return {key: row for key, row in rates.items() if key not in twice}


def _cache_rows(table: CsvTable) -> Iterator[tuple[TaskKey, dict[str, str]]]:
    try:
        stream, task, name = (table.column(column) for column in ("Stream Id", "Task Id", "Op Name"))
        if stream is None or task is None or name is None:
            return
        for cells in table.rows():
            if cells is not None:
                rates = {
                    column: cell
                    for at, (column, cell) in enumerate(zip(table.columns, cells, strict=True))
                    if at not in (stream, task, name) and cell not in EMPTY_CELLS
                }
                yield (cells[stream], cells[task], cells[name]), rates
    except OSError:
        return


# api_statistic: CANN calls, over the whole profile. cpu_op_detail_info: MindSpore's operators on a CPU.
NAMED_PATTERNS = (("api_statistic*.csv", "API Name"), ("cpu_op_detail_info_*.csv", "full_op_name"))


def named_rows(folder: Path) -> tuple[tuple[str, Mapping[str, dict[str, str]]], ...]:
    """Return (file, name -> row) of tables with one row per name. Of repeated names (two devices, or levels) the first
    counts."""
    tables = []
    for pattern, column in NAMED_PATTERNS:
        for path in files_of(folder, pattern):
            try:
                tables.append((path.name, _rows_by_name(CsvTable(path), column)))
            except OSError:
                continue
    return tuple(tables)


def _rows_by_name(table: CsvTable, column: str) -> dict[str, dict[str, str]]:
    at = table.column(column)
    rows: dict[str, dict[str, str]] = {}
    for cells in table.rows() if at is not None else ():
        if cells is not None and at is not None:
            rows.setdefault(cells[at], without_empty_cells(dict(zip(table.columns, cells, strict=True))))
    return rows
