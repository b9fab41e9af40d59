"""The step of Home that is done once two captures were compared."""

from __future__ import annotations

from studio.feature import ProjectRuns, Step
from studio.run import ANSWERED, outcome_of


def step(project_runs: ProjectRuns) -> Step:
    """A comparison counts whatever its answer was. It may stay undone: not every training has a golden side."""
    is_done = any(
        run.request.command == "compare" and outcome_of(glance) in ANSWERED for run, glance in project_runs.runs
    )
    return Step(key="journey.precision", is_done=is_done, is_optional=True)
