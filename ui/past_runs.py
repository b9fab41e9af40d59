"""Of the runs of a project: which live, which ended with an answer, and why one failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.errors import StudioError
from studio.events import Finding
from studio.run import last_events, outcome_of

if TYPE_CHECKING:
    from studio.run import Glance, Run

LIVE = ("running", "unattended", "queued")


def ended_runs(listed: list[tuple[Run, Glance]], command: str) -> list[Run]:
    """Newest first: those that did their work, whatever the answer was."""
    return [run for run, glance in listed if run.asked.command == command and outcome_of(glance) in ("done", "no")]


def failure_of(run: Run) -> StudioError:
    """What a run that failed said last; where it said nothing, that its log may."""
    findings = [one for one in last_events(run.folder) if isinstance(one, Finding)]
    if findings:
        return StudioError(findings[-1].rule, **findings[-1].args)
    return StudioError("migration.failed", log=str(run.log))
