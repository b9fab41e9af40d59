"""Tables of a profile that are shown as they are: csv and json files next to its traces, and databases of analyses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backends.timeline.source_discovery import ANALYSES, CLUSTER
from backends.timeline.tables.csv_table import CsvTable
from backends.timeline.tables.sheets_db import tables_with_rows
from backends.timeline.tables.sheets_json import TABLES, json_tables
from backends.timeline.tables.table_files import files_of
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.timeline.trace import Meta, Source, Trace

FIRST = (
    "kernel_details", "op_summary", "op_statistic", "operator_details", "api_statistic", "step_trace_time",
    "communication", "operator_memory", "memory_record", "npu_module_mem",
)  # fmt: skip
MAX_SHEETS = 4000


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """`table`: of a database, or the part of a json file that the rows come from; else empty. `rank`: None for tables
    of all ranks, or where the data does not tell."""

    path: Path
    table: str
    rank: int | None

    @property
    def title(self) -> str:
        return " · ".join(filter(None, (self.table, self.path.name)))


def sheets(trace: Trace) -> tuple[Sheet, ...]:
    """Return the tables with rows: of each rank's folder, then of the analysis of all. Unreadable files are left out.
    Opens every file: not for the UI thread."""
    files: dict[Path, int | None] = {}
    for source in trace.meta.sources:
        for path in _files(trace.root / source.path, source):
            files.setdefault(path, source.rank)
    for folder in _clusters(trace):
        for path in _of_cluster(folder):
            files.setdefault(path, None)
    each = (sheet for path, rank in files.items() for sheet in _sheets(path, rank))
    return tuple(sheet for sheet, _ in zip(each, range(MAX_SHEETS), strict=False))


def holds_tables_only(meta: Meta) -> bool:
    """Whether nothing of it has a position in time, so that it is shown by its tables alone."""
    return all(source.kind == "analysis" for source in meta.sources)


def _files(path: Path, source: Source) -> Iterator[Path]:
    if source.kind == "analysis":
        yield path
    if source.kind != "table":
        yield from sorted(files_of(path.parent, "*.csv", *TABLES, *ANALYSES), key=_order)


def _order(path: Path) -> tuple[int, str]:
    positions = (number for number, name in enumerate(FIRST) if path.name.startswith(name))
    return next(positions, len(FIRST)), path.name


def _clusters(trace: Trace) -> Iterator[Path]:
    """Yield the folders that an analysis of several ranks writes into."""
    folders = {trace.root: None}
    for source in trace.meta.sources:
        below = Path(source.path).parent
        folders |= {trace.root / parent: None for parent in reversed((below, *below.parents))}
    yield from (folder / CLUSTER for folder in folders if (folder / CLUSTER).is_dir())
    if trace.root.name == CLUSTER:
        yield trace.root


def _of_cluster(folder: Path) -> Iterator[Path]:
    """Yield the files of an analysis; a recipe writes its csv into a folder of its own."""
    yield from sorted(files_of(folder, *ANALYSES, "*.csv", *TABLES, "*/*.csv"), key=lambda path: path.suffix != ".db")


def _sheets(path: Path, rank: int | None) -> Iterator[Sheet]:
    for table in _tables(path):
        yield Sheet(path=path, table=table, rank=rank)


def check(path: Path) -> None:
    """Raises StudioError where a file contains no table with rows, and OSError."""
    if not _tables_of(path):
        raise StudioError("timeline.error.no_tables", place=str(path))


def _tables(path: Path) -> tuple[str, ...]:
    try:
        return _tables_of(path)
    except (StudioError, OSError):
        return ()


def _tables_of(path: Path) -> tuple[str, ...]:
    if path.suffix == ".csv":
        return ("",) if _has_rows(CsvTable(path)) else ()
    return json_tables(path) if path.suffix == ".json" else tables_with_rows(path)


def _has_rows(table: CsvTable) -> bool:
    return any(table.columns) and next(table.records(), None) is not None
