"""The step of Home that is done once a training ended well."""

from __future__ import annotations

from studio.feature import ProjectRuns, Step
from studio.run import outcome_of

TRAININGS = ("launch", "script")


def step(project_runs: ProjectRuns) -> Step:
    """It is proposed again when all steps are done: there is always another training."""
    is_done = any(
        run.request.command in TRAININGS and outcome_of(glance) == "done" for run, glance in project_runs.runs
    )
    return Step(key="journey.launch", is_done=is_done, again_key="journey.launch_again")
