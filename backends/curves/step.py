"""The step of Home that is done once a training was looked at."""

from __future__ import annotations

from backends import features
from studio.feature import ProjectRuns, Step


def step(project_runs: ProjectRuns) -> Step:
    """A rehearsal or a scan that is looked at has no curves of a training."""
    watched = project_runs.watched
    is_done = watched is not None and watched.request.command in _trainings()
    return Step(key="journey.curves", is_done=is_done)


def _trainings() -> frozenset[str]:
    return frozenset(action.name for feature in features() for action in feature.actions if action.is_training)
