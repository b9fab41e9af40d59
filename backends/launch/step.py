"""The step of Home that is done once a training ended well."""

from __future__ import annotations

from backends.common.step_states import step_state
from studio.feature import ProjectRuns, Step
from studio.run import outcome_of

TRAININGS = ("launch", "script")


def step(project_runs: ProjectRuns) -> Step:
    """It is proposed again when all steps are done: there is always another training."""
    glances = [glance for run, glance in project_runs.runs if run.request.command in TRAININGS]
    return Step(
        key="journey.launch",
        is_done=any(outcome_of(glance) == "done" for glance in glances),
        again_key="journey.launch_again",
        state=step_state(glances),
        text_key="journey.launch_own_text" if project_runs.uses_gpu else "",
    )
