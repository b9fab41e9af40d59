"""The worker's part of a second opinion: run the tool in a process of its own, then read its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from backends.migration.official import tool
from backends.migration.official.opinion import Opinion, compare_findings, read_rows
from backends.migration.official.spec import tool_of
from backends.migration.scan.facts.facts import facts_of_interpreter
from backends.migration.scan.project_scan import survey_project
from studio import files
from studio.command import Command
from studio.errors import Stopped, StudioError, from_os
from studio.events import Artifact, Ended, Journal, Note
from studio.exit_codes import STOPPED
from studio.run import located
from studio.supervisor import is_stop_requested, supervise

if TYPE_CHECKING:
    from pathlib import Path

    from backends.migration.official.spec import OfficialSpec
    from studio.run import Run

OPINION_FILE = "artifacts/second-opinion.json"
OFFICIAL = "artifacts/official"
GRACE = 5.0


def second_opinion(spec: OfficialSpec, run: Run) -> Ended:
    """Run the tool and compare its rows with our findings. Raises StudioError where the tool is gone by now or wrote
    no table.

    The project is passed as it is: the tool refuses links, and some characters in a path.
    """
    out = run.folder / OFFICIAL
    ended = supervise(plan_tool_run(spec, run, out), run, GRACE)
    run = located(run)
    out = run.folder / OFFICIAL
    if ended.code:
        return ended
    project = spec.asked.path
    rows = read_rows(out, project)
    if not rows and not any(out.rglob("*.csv")):
        raise StudioError("migration.official.silent")
    try:
        findings = survey_project(
            project, facts_of_interpreter(None, spec.asked.api_version), is_stopped=is_stop_requested
        ).findings
    except Stopped:
        return Ended(code=STOPPED, reason="stopped")
    write_opinion(run, compare_findings(rows, findings, spec.asked.api_version))
    return Ended(code=0)


def plan_tool_run(spec: OfficialSpec, run: Run, out: Path) -> Command:
    """Return the command that runs the tool, and create the folder that the tool expects. Raises StudioError."""
    script = tool_of(spec.asked)
    if script is None:
        raise StudioError("migration.rule.no_tool")
    try:
        out.mkdir(parents=True, exist_ok=True)  # The tool refuses a folder that does not exist.
    except OSError as error:
        raise from_os(error, out) from error
    return Command(argv=tool.tool_line(script, spec.asked.path, out, spec.asked.api_version), cwd=run.folder)


def write_opinion(run: Run, opinion: Opinion) -> None:
    """Write the comparison and the events that summarize it. Raises StudioError."""
    try:
        files.write_json(run.folder / OPINION_FILE, opinion)
    except OSError as error:
        raise from_os(error, run.folder) from error
    figures = {"both": opinion.matched, "theirs": opinion.unmatched, "ours": opinion.unmentioned}
    journal = Journal(run.folder, 1)
    journal.write(Artifact(kind="second_opinion", path=OPINION_FILE), Note(key="migration.official.done", args=figures))


def opinion_answer(run: Run) -> dict[str, Any]:
    """Return what `--json` adds: the comparison."""
    try:
        opinion = msgspec.json.decode(files.read_bytes(run.folder / OPINION_FILE), type=Opinion)
    except (OSError, msgspec.MsgspecError):
        return {}
    return dict(msgspec.to_builtins(opinion))
