"""The step of Home for a migration: scan, then migrate, then prove, by what the project's runs left."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from backends.common.step_states import step_state
from backends.migration.certify.certificate import read_certificate, stale_file
from studio.events import Note
from studio.feature import ProjectRuns, Step
from studio.run import last_events, outcome_of

if TYPE_CHECKING:
    from pathlib import Path

    from studio.run import Run

Stage = Literal["open", "migrate", "certify", "done"]
"""What comes next; open: no migration was begun."""
COMMANDS = ("scan", "migrate", "certify")
TITLES: dict[Stage, str] = {
    "open": "journey.migration", "migrate": "journey.migration_migrate", "certify": "journey.migration_certify",
    "done": "journey.migration",
}  # fmt: skip

INTERVAL = 5.0
"""Seconds between two looks at the files of a certificate."""
_in_force: dict[Path, tuple[float, bool]] = {}


def step(project_runs: ProjectRuns) -> Step:
    """It may stay undone only where no migration was begun and nothing is written for CUDA: a training may be written
    for NPUs already."""
    stage = stage_of(project_runs)
    runs = [(run, glance) for run, glance in project_runs.runs if run.request.command in COMMANDS]
    newest = runs[0][0].request.command if runs and project_runs.project else ""
    # A scan answers no where it has findings: that is what the next steps are for.
    state = "" if newest in ("", "scan") else step_state([glance for _, glance in runs[:1]])
    return Step(
        key=TITLES[stage],
        is_done=stage == "done",
        is_optional=stage == "open" and not project_runs.uses_gpu,
        state=state,
    )


def stage_of(project_runs: ProjectRuns) -> Stage:
    """The newest run that says something counts: a proof that was granted, a migration that was applied and not
    undone, a scan. Runs without a project may be of any folder and say nothing."""
    undone: set[str] = set()
    is_scanned = False
    for run, glance in project_runs.runs if project_runs.project else ():
        command, outcome = run.request.command, outcome_of(glance)
        if command == "certify" and outcome == "done":
            return "done" if _is_in_force(run.folder) else "certify"
        if command == "certify" and outcome in ("no", "incomplete", "failed", "lost"):
            return "certify"
        if command == "migrate" and outcome == "done":
            if undone_run := _result(run, "undo"):
                undone.add(undone_run)
            elif (_result(run, "into") or _result(run, "branch")) and str(run.folder) not in undone:
                return "certify"
        if command == "scan" and outcome in ("done", "no") and not is_scanned:
            if _is_clean(run.folder):
                return "done"
            is_scanned = True
    return "migrate" if is_scanned else "open"


def _result(run: Run, name: str) -> str:
    section = run.request.values.get("result")
    value: Any = section.get(name) if isinstance(section, dict) else None
    return value if isinstance(value, str) else ""


def _is_in_force(run: Path) -> bool:
    """Whether both projects are as they were when a certificate was granted; looked at again after a while, as Home
    asks with every event. A run without a certificate's file has its exit code alone."""
    moment, answer = _in_force.get(run, (-INTERVAL, True))
    if time.monotonic() - moment > INTERVAL:
        certificate = read_certificate(run)
        answer = certificate is None or not stale_file(certificate)
        _in_force[run] = (time.monotonic(), answer)
    return answer


@lru_cache(maxsize=256)
def _is_clean(scan: Path) -> bool:
    """Whether nothing in the project touches the GPU stack. The scan has ended, so its answer stays the same."""
    notes = [event for event in last_events(scan) if isinstance(event, Note) and event.key == "migration.scan.done"]
    return bool(notes) and notes[-1].args.get("total") == 0
