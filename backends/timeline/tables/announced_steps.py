"""Steps that a trace should have by what lies next to it: the profiler's table of steps, and the schedule in its
settings. A trace that was cut between two steps is whole JSON and says nothing of what it lacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.timeline.tables.capture_settings import switches_of
from backends.timeline.tables.csv_table import CsvTable
from backends.timeline.tables.table_files import files_of
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from backends.timeline.trace import Trace

STEP_TABLE = "step_trace_time*.csv"
MAX_STEPS = 1 << 16  # of a table
MAX_NAMES = 8


@dataclass(frozen=True, kw_only=True)
class StepCoverage:
    """`steps`: numbers of those in the traces. `is_announced`: whether each trace, or the files next to it, tell which
    steps it should have; `gaps`: what they tell that is not there, by path of the trace below the profile."""

    steps: tuple[int, ...]
    is_announced: bool
    gaps: tuple[tuple[str, StudioError], ...]


def step_coverage(trace: Trace) -> StepCoverage:
    """Compare the steps of each text trace with those that its tables name and its schedule asked for. A database has
    its own table of steps. Reads files: not for the UI thread."""
    steps = trace.meta.steps
    numbers = {source: {step.number for step in steps if step.source == source} for source in {s.source for s in steps}}
    gaps: list[tuple[str, StudioError]] = []
    is_announced = True
    for source, own in numbers.items():
        if trace.meta.sources[source].kind != "text":
            continue
        path = trace.root / trace.meta.sources[source].path
        table_steps, scheduled = _table_steps(path.parent), _scheduled_steps(path)
        is_announced = is_announced and bool(table_steps or scheduled or trace.meta.sources[source].has_end)
        gap = _gap(own, table_steps, scheduled)
        gaps += [(trace.meta.sources[source].path, gap)] if gap else []
    return StepCoverage(
        steps=tuple(sorted(set().union(*numbers.values()))), is_announced=is_announced, gaps=tuple(gaps)
    )


def _gap(own: set[int], table_steps: set[int], scheduled: int) -> StudioError | None:
    if missing := sorted(table_steps - own):
        return StudioError("timeline.gap.named_steps", steps=step_names(missing), have=step_names(sorted(own)))
    if len(own) < scheduled:
        return StudioError("timeline.gap.asked_steps", n=scheduled, have=step_names(sorted(own)))
    return None


def _table_steps(folder: Path) -> set[int]:
    """Return the numbers in the profiler's table of steps, none where it was recorded without a schedule."""
    return {number for path in files_of(folder, STEP_TABLE) for number in _column(CsvTable(path))}


def _column(table: CsvTable) -> Iterator[int]:
    try:
        at = table.column("Step")
        rows = zip(range(MAX_STEPS), table.rows(), strict=False) if at is not None else ()
        cells = [row[at] for _, row in rows if row is not None and at is not None]
    except OSError:
        return
    yield from (int(cell) for cell in cells if cell.isascii() and cell.isdigit())


def _scheduled_steps(path: Path) -> int:
    """Return how many steps each recording of the schedule has, 0 where there is none."""
    active = switches_of(path).get("active")
    return active if isinstance(active, int) and not isinstance(active, bool) else 0


def step_names(numbers: Iterable[int]) -> str:
    """Return numbers in ascending order as text: '3-5, 8'."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    texts = [str(first) if first == last else f"{first}-{last}" for first, last in ranges[:MAX_NAMES]]
    return ", ".join(texts) + (" …" if len(ranges) > MAX_NAMES else "")
