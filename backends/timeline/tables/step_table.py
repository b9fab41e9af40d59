"""The profiler's own figures of each step, next to a trace: step_trace_time.csv, or analysis.db next to a database.

Both hold what the trace's own events sum up to, to the nanosecond (tests/timeline/tables/test_summary.py): where they
differ, events are missing from one of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.timeline.db.database import BROKEN
from backends.timeline.db.opening import open_database
from backends.timeline.tables.announced_steps import MAX_STEPS, STEP_TABLE
from backends.timeline.tables.cell_values import cell_figure
from backends.timeline.tables.csv_table import CsvTable
from backends.timeline.tables.table_files import files_of
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from backends.timeline.tables.summary import StepTimes
    from backends.timeline.trace import Trace

ANALYSIS = "analysis.db"
COLUMNS = {"computing": "Computing", "exposed": "Communication(Not Overlapped)", "free": "Free"}
DB_COLUMNS = ("computing", "communication_not_overlapped", "free")
SHARE = 0.001
"""Of a step, by which figures may differ: the sentence shows four digits of its time and whole percents."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A figure of a step that its table has otherwise. `name`: "whole", "computing", "exposed" or "free"; `table`: of
    which file; `theirs`, `ours`: ns."""

    step: StepTimes
    table: Path
    name: str
    theirs: int
    ours: int


def differences(trace: Trace, steps: Sequence[StepTimes]) -> tuple[Difference, ...]:
    """Return the steps whose tables say otherwise. A table of several devices is not compared: it does not tell which
    is which. Reads files: not for the UI thread."""
    devices = {step.device for step in steps}
    of_source = Counter(source for source, _, _ in devices)
    tables: dict[int, dict[int | None, tuple[Path, dict[str, int]]]] = {
        number: _figures(trace.root / source.path)
        for number, source in enumerate(trace.meta.sources)
        if of_source[number] == 1
    }
    pairs = ((step, tables.get(step.source, {}).get(step.number)) for step in steps)
    compared = (_difference(step, *row) for step, row in pairs if row)
    return tuple(difference for difference in compared if difference)


def _difference(step: StepTimes, table: Path, theirs: dict[str, int]) -> Difference | None:
    """Return the whole step where that differs, else the figure that differs most."""
    ours = {name: int(getattr(step, name)) for name in (*COLUMNS, "whole")}
    theirs = {**theirs, "whole": sum(theirs.values())}
    limit = 1000 + SHARE * theirs["whole"]
    names = [name for name in ours if abs(ours[name] - theirs[name]) > limit]
    if not names:
        return None
    name = "whole" if "whole" in names else max(names, key=lambda each: abs(ours[each] - theirs[each]))
    return Difference(step=step, table=table, name=name, theirs=theirs[name], ours=ours[name])


def _figures(path: Path) -> dict[int | None, tuple[Path, dict[str, int]]]:
    """Return the table and the figures, ns, of each step that has one row: its number, None for no number."""
    if path.suffix == ".db":
        rows = [(path.with_name(ANALYSIS), row) for row in _db_rows(path.with_name(ANALYSIS))]
    else:
        rows = [(table, row) for table in files_of(path.parent, STEP_TABLE) for row in _csv_rows(CsvTable(table))]
    each: defaultdict[int | None, list[tuple[Path, dict[str, int]]]] = defaultdict(list)
    for table, (number, *cells) in rows:
        figures = [cell_figure(cell) for cell in cells]
        figures_ns = {
            name: round(figure * 1000) for name, figure in zip(COLUMNS, figures, strict=True) if figure is not None
        }
        if len(figures_ns) == len(COLUMNS) and (not number or (number.isascii() and number.isdigit())):
            each[int(number) if number else None].append((table, figures_ns))
    return {number: those[0] for number, those in each.items() if len(those) == 1}


def _csv_rows(table: CsvTable) -> Iterator[tuple[str, ...]]:
    """Yield the cells of a step's number and of COLUMNS."""
    try:
        at = [table.column(name) for name in ("Step", *COLUMNS.values())]
        places = [index for index in at if index is not None]
        rows = [row for _, row in zip(range(MAX_STEPS), table.rows(), strict=False)] if len(places) == len(at) else []
    except OSError:
        return
    yield from (tuple(row[index] for index in places) for row in rows if row is not None)


def _db_rows(path: Path) -> Iterable[tuple[str, ...]]:
    query = f"SELECT step, {', '.join(DB_COLUMNS)} FROM StepTraceTime LIMIT {MAX_STEPS}"
    try:
        with open_database(path) as base:
            rows = base.connection.execute(query).fetchall()
    except (StudioError, *BROKEN):
        return []
    return [tuple("" if cell is None else str(cell) for cell in row) for row in rows]
