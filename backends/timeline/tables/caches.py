"""Hit and victim rate of the L2 cache, of l2_cache.csv, by stream, task and name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.timeline.tables.folders import files_of
from backends.timeline.tables.table import NOTHING, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

PATTERN = "l2_cache*.csv"
Key = tuple[str, str, str]  # stream, task, name


def cache_rows(folder: Path) -> Mapping[Key, dict[str, str]]:
    """Numbers of tasks come round again in long traces: what is there more than once is nobody's."""
    found: dict[Key, dict[str, str]] = {}
    twice: set[Key] = set()
    for path in files_of(folder, PATTERN):
        for key, row in _rows(Table(path)):
            twice |= {key} & found.keys()
            found[key] = row
    return {key: row for key, row in found.items() if key not in twice}


def _rows(table: Table) -> Iterator[tuple[Key, dict[str, str]]]:
    try:
        stream, task, name = (table.place(column) for column in ("Stream Id", "Task Id", "Op Name"))
        if stream is None or task is None or name is None:
            return
        for cells in table.rows():
            if cells is not None:
                rates = {
                    column: cell
                    for at, (column, cell) in enumerate(zip(table.columns, cells, strict=True))
                    if at not in (stream, task, name) and cell not in NOTHING
                }
                yield (cells[stream], cells[task], cells[name]), rates
    except OSError:
        return
