"""The past runs of a project: which are live, which ended with an answer, and why one failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.errors import StudioError
from studio.events import Finding
from studio.run import ANSWERED, last_events, outcome_of

if TYPE_CHECKING:
    from studio.run import Glance, Run

LIVE = ("running", "unattended", "queued")


def ended_runs(listed: list[tuple[Run, Glance]], command: str) -> list[Run]:
    """Return the runs that did their work, whatever the answer was, newest first."""
    return [run for run, glance in listed if run.request.command == command and outcome_of(glance) in ANSWERED]


def failure_of(run: Run) -> StudioError:
    """Return the last finding of a run that failed; without one, a reference to its log."""
    findings = [event for event in last_events(run.folder) if isinstance(event, Finding)]
    if findings:
        return StudioError(findings[-1].rule, **findings[-1].args)
    return StudioError("migration.failed", log=str(run.log))
