"""The comparison that a deeper one began from: it has the whole step, the deeper one the calls around the suspect."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from backends.precision.deeper.spec import DeeperSpec
from backends.precision.deeper.work import deeper_answer
from backends.precision.sides import open_comparison_run
from studio import run as runs
from studio import schema
from studio.errors import StudioError

if TYPE_CHECKING:
    from backends.precision.compare.comparison import Comparison
    from studio.run import Run

DEEPER = "deeper"
MAX_RUNS = 400
"""So many of the newest runs beside a comparison are looked through."""


def origin_comparison(run: Run) -> tuple[Comparison, Run] | None:
    """Return the comparison that a run of `deeper` began with, for a comparison that it made; None for any other."""
    for name in runs.run_names(run.folder.parent)[:MAX_RUNS]:
        try:
            candidate = runs.open_run(run.folder.parent / name)
            if candidate.request.command == DEEPER and _led_to(candidate, run):
                source = runs.open_run(schema.from_json(DeeperSpec, candidate.request.values)[0].chosen.comparison)
                return open_comparison_run(source.folder), source
        except StudioError:
            continue
    return None


def _led_to(deeper: Run, run: Run) -> bool:
    """Return whether this is the last comparison that a run of `deeper` made."""
    comparison = deeper_answer(deeper).get("comparison")
    return isinstance(comparison, str) and Path(comparison).resolve() == run.folder.resolve()
