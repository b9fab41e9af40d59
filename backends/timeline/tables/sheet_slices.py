"""Which slice a row of a sheet speaks of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.timeline.query.hit import slices_named
from backends.timeline.tables.cells import nanoseconds
from backends.timeline.tables.table import NOTHING, plain

if TYPE_CHECKING:
    from backends.timeline.tables.sheet_rows import Rows
    from backends.timeline.trace import Trace

NAMES = ("name", "api name", "hccl op name", "opname", "operation", "full op name", "type", "optype")
STARTS = {"start time(us)": 1, "start timestamp(us)": 1000, "start timestamp": 50_000}
"""Columns of a start, and by how many ns it may be off: a csv cuts what the trace rounds, communication.json keeps
tenths of a us, and the clocks of analysis.db and of the db beside it are up to 22 us apart in real data."""


def name_of(rows: Rows, number: int) -> str:
    """Of the kernel, operator or API that a row speaks of; "" where it names none."""
    found = (_cell(rows, number, name) for name in NAMES)
    return next((cell for cell in found if cell not in NOTHING), "")


def slice_of(trace: Trace, rank: int | None, rows: Rows, number: int) -> int:
    """The slice of this name that starts when the row says, of its rank where that is known; -1: none. The first
    question of a trace decodes its names: not for the UI thread."""
    name = name_of(rows, number)
    starts = ((nanoseconds(_cell(rows, number, column)), slack) for column, slack in STARTS.items())
    start, slack = next((one for one in starts if one[0] is not None), (None, 0))
    if start is None or name not in trace.name_texts:
        return -1
    at = start - trace.meta.origin_ns
    near = slices_named(trace, trace.name_texts.index(name), at - slack, at + slack + 1)
    apart = {index: abs(int(trace.start[index]) - at) for index in near.tolist() if _is_of(trace, index, rank)}
    found = min(apart, key=apart.__getitem__, default=-1)
    return found if found >= 0 and apart[found] <= slack else -1


def _cell(rows: Rows, number: int, name: str) -> str:
    return next((column.cell(number) for column in rows.columns if plain(column.name) == name), "")


def _is_of(trace: Trace, index: int, rank: int | None) -> bool:
    process = trace.meta.processes[trace.meta.lanes[trace.lane_of(index)].process]
    return rank is None or process.rank in (rank, None)
