"""The step of Home that is done once a run was looked at."""

from __future__ import annotations

from studio.feature import ProjectRuns, Step


def step(project_runs: ProjectRuns) -> Step:
    return Step(key="journey.curves", is_done=project_runs.watched is not None)
