"""Mapping from a row of a sheet to the slice it describes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.timeline.query.slice_lookup import slices_named
from backends.timeline.tables.cell_values import cell_nanoseconds
from backends.timeline.tables.csv_table import EMPTY_CELLS, plain

if TYPE_CHECKING:
    from backends.timeline.tables.sheet_rows import SheetRows
    from backends.timeline.trace import Trace

NAME_HEADS = ("name", "api name", "hccl op name", "opname", "operation", "full op name", "type", "optype")
START_HEADS = {"start time(us)": 1, "start timestamp(us)": 1000, "start timestamp": 50_000}
"""Columns of a start, and by how many ns it may be off: a csv cuts what the trace rounds, communication.json keeps
tenths of a us, and the clocks of analysis.db and of the db beside it are up to 22 us apart in real data."""


def row_name(rows: SheetRows, number: int) -> str:
    """Return the name of the kernel, operator or API that a row is about; "" where it names none."""
    cells = (_cell(rows, number, name) for name in NAME_HEADS)
    return next((cell for cell in cells if cell not in EMPTY_CELLS), "")


def slice_of_row(trace: Trace, rank: int | None, rows: SheetRows, number: int) -> int:
    """Return the slice of the row's name and start, on its rank where that is known; -1: none. The first call for a
    trace decodes its names: not for the UI thread."""
    name = row_name(rows, number)
    starts = ((cell_nanoseconds(_cell(rows, number, column)), slack) for column, slack in START_HEADS.items())
    start, slack = next((candidate for candidate in starts if candidate[0] is not None), (None, 0))
    if start is None or name not in trace.name_texts:
        return -1
    at = start - trace.meta.origin_ns
    near = slices_named(trace, trace.name_texts.index(name), at - slack, at + slack + 1)
    apart = {index: abs(int(trace.start[index]) - at) for index in near.tolist() if _is_of(trace, index, rank)}
    nearest = min(apart, key=apart.__getitem__, default=-1)
    return nearest if nearest >= 0 and apart[nearest] <= slack else -1


def _cell(rows: SheetRows, number: int, name: str) -> str:
    return next((column.cell(number) for column in rows.columns if plain(column.name) == name), "")


def _is_of(trace: Trace, index: int, rank: int | None) -> bool:
    process = trace.meta.processes[trace.meta.lanes[trace.lane_of(index)].process]
    return rank is None or process.rank in (rank, None)
