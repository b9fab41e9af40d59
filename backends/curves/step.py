"""The step of Home that is done once a training was looked at, and that opens the one that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends import features
from studio.feature import ProjectRuns, Step
from studio.run import is_running

if TYPE_CHECKING:
    from studio.run import Glance, Run


def step(project_runs: ProjectRuns) -> Step:
    """A rehearsal or a scan that is looked at has no curves of a training; a run that waits for its turn has none
    yet."""
    watched = project_runs.watched
    is_done = watched is not None and watched.request.command in _trainings()
    if not any(_is_running(run, glance) for run, glance in project_runs.runs):
        return Step(key="journey.curves", is_done=is_done)
    return Step(
        key="journey.curves", is_done=is_done, state="working", is_live=True, text_key="journey.curves_live_text"
    )


def _is_running(run: Run, glance: Glance) -> bool:
    return is_running(glance) and run.request.command in _trainings()


def _trainings() -> frozenset[str]:
    return frozenset(action.name for feature in features() for action in feature.actions if action.is_training)
