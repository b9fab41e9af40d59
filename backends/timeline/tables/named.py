"""Tables with a row for each name: what the profiler counted over all calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.timeline.tables.folders import files_of
from backends.timeline.tables.table import Table, said

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# api_statistic: CANN calls, over the whole profile. cpu_op_detail_info: MindSpore's operators on a CPU.
PATTERNS = (("api_statistic*.csv", "API Name"), ("cpu_op_detail_info_*.csv", "full_op_name"))


def named_rows(folder: Path) -> tuple[tuple[str, Mapping[str, dict[str, str]]], ...]:
    """(file, name -> row). What stands there twice (of two devices, or levels) is left to the first."""
    found = []
    for pattern, column in PATTERNS:
        for path in files_of(folder, pattern):
            try:
                found.append((path.name, _by_name(Table(path), column)))
            except OSError:
                continue
    return tuple(found)


def _by_name(table: Table, column: str) -> dict[str, dict[str, str]]:
    at = table.place(column)
    rows: dict[str, dict[str, str]] = {}
    for cells in table.rows() if at is not None else ():
        if cells is not None and at is not None:
            rows.setdefault(cells[at], said(dict(zip(table.columns, cells, strict=True))))
    return rows
