"""A second opinion, in the worker: the tool runs in a process of its own, then its tables are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from backends.migration.official import tool
from backends.migration.official.rows import Opinion, compared, read_rows
from backends.migration.official.spec import tool_of
from backends.migration.scan.facts.facts import facts_for
from backends.migration.scan.scan import Stopped, survey
from studio import files
from studio.command import Command
from studio.errors import StudioError, from_os
from studio.events import Artifact, Ended, Journal, Note
from studio.supervisor import STOP, supervise

if TYPE_CHECKING:
    from pathlib import Path

    from backends.migration.official.spec import OfficialSpec
    from studio.run import Run

FILE = "artifacts/second-opinion.json"
GRACE = 5.0


def second_opinion(spec: OfficialSpec, run: Run) -> Ended:
    """Raises StudioError where the tool is gone by now, or wrote no table. The project is given as it is: the tool
    refuses links, and some characters in a path."""
    out = run.folder / "artifacts" / "official"
    ended = supervise(plan(spec, run, out), run, GRACE)
    if ended.code:
        return ended
    project = spec.asked.path
    rows = read_rows(out, project)
    if not rows and not any(out.rglob("*.csv")):
        raise StudioError("migration.official.silent")
    try:
        found = survey(project, facts_for(None, spec.asked.api_version), stopped=lambda: bool(STOP.asked)).found
    except Stopped:
        return Ended(code=143, reason="stopped")
    keep(run, compared(rows, found, spec.asked.api_version))
    return Ended(code=0)


def plan(spec: OfficialSpec, run: Run, out: Path) -> Command:
    script = tool_of(spec.asked)
    if script is None:
        raise StudioError("migration.rule.no_tool")
    try:
        out.mkdir(parents=True, exist_ok=True)  # it refuses a folder that is not there
    except OSError as error:
        raise from_os(error, out) from error
    return Command(argv=tool.line(script, spec.asked.path, out, spec.asked.api_version), cwd=run.folder)


def keep(run: Run, opinion: Opinion) -> None:
    try:
        files.write_json(run.folder / FILE, opinion)
    except OSError as error:
        raise from_os(error, run.folder) from error
    figures = {"both": opinion.both, "theirs": opinion.theirs, "ours": opinion.ours}
    journal = Journal(run.folder, 1)
    journal.write(Artifact(kind="second_opinion", path=FILE), Note(key="migration.official.done", args=figures))


def answer(run: Run) -> dict[str, Any]:
    """What `--json` adds: the comparison."""
    try:
        found = msgspec.json.decode((run.folder / FILE).read_bytes(), type=Opinion)
    except (OSError, msgspec.MsgspecError):
        return {}
    return dict(msgspec.to_builtins(found))
