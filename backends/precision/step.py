"""The step of Home that is done once two captures were compared and agree."""

from __future__ import annotations

from backends.common.step_states import step_state
from studio.feature import ProjectRuns, Step
from studio.run import outcome_of


def step(project_runs: ProjectRuns) -> Step:
    """The newest comparison counts: one that differs or is incomplete is a problem that is open. It may stay undone:
    not every training has a golden side."""
    glances = [glance for run, glance in project_runs.runs if run.request.command == "compare"]
    is_done = bool(glances) and outcome_of(glances[0]) == "done"
    return Step(key="journey.precision", is_done=is_done, is_optional=True, state=step_state(glances))
