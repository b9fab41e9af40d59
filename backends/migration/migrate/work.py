"""The worker's part of a migration: artifacts/changes.json, and the result where one was asked for."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from backends.migration.migrate import git_branch, project_copy, undo
from backends.migration.migrate.changes import Changes, Decisions
from backends.migration.migrate.decisions import NO_DECISIONS, accepted_hunks, files_changed_since, reject_unlisted
from backends.migration.migrate.plan import plan_changes
from backends.migration.migrate.replaced_files import edited_files
from backends.migration.migrate.result_findings import settle_findings
from backends.migration.scan.facts.facts import facts_of_project
from backends.migration.scan.overview import count_open_places
from backends.migration.scan.project_files import SourceFile, walk_project
from backends.migration.scan.project_scan import survey_project
from backends.migration.scan.suppressions import read_suppressions
from studio import files
from studio.errors import Stopped, StudioError, from_os
from studio.events import Artifact, Ended, Journal, Note
from studio.exit_codes import STOPPED
from studio.progress import ThrottledProgress
from studio.supervisor import is_stop_requested

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.migration.finding import ScanFinding
    from backends.migration.migrate.replaced_files import ReplacedFile
    from backends.migration.migrate.spec import MigrateSpec
    from studio.run import Run

CHANGES_FILE = "artifacts/changes.json"


def migrate(spec: MigrateSpec, run: Run) -> Ended:
    """Plan, apply or undo a migration. Raises StudioError."""
    journal = Journal(run.folder, 1)
    if spec.result.undo != Path():
        undone = undo.undo_migration(spec.result.undo)
        journal.write(Note(key="migration.migrate.undone", args={"target": undone.target or undone.branch}))
        return Ended(code=0)
    try:
        changes = _run_migration(spec, run, journal)
    except Stopped:
        return Ended(code=STOPPED, reason="stopped")
    _write_changes(run, changes)
    journal.write(Artifact(kind="changes", path=CHANGES_FILE))
    key = "migration.migrate.done" if changes.target or changes.branch else "migration.migrate.planned"
    journal.write(Note(key=key, args=change_figures(changes)))
    return Ended(code=0)


def _run_migration(spec: MigrateSpec, run: Run, journal: Journal) -> Changes:
    folder = spec.migrated.path
    findings = _scan(spec, folder, journal)
    planned = plan_changes(folder, findings, spec.migrated.style)
    planned = msgspec.structs.replace(planned, before=_count_open(folder, findings))
    _write_changes(run, planned)
    decisions = _read_decisions(spec, planned)
    planned = msgspec.structs.replace(planned, changed=files_changed_since(planned, decisions))
    if spec.result.branch:
        applied = apply_to_branch(planned, spec.result.branch, run.folder, decisions)
        with tempfile.TemporaryDirectory(prefix="ascend-studio-") as scratch:
            _write_branch_files(folder, Path(scratch), planned, decisions)
            return _with_states_after(spec, applied, Path(scratch), journal)
    if spec.result.into != Path():
        applied = apply_to_copy(planned, spec.result.into, run.folder, decisions)
        return _with_states_after(spec, applied, spec.result.into, journal)
    return planned


def _scan(spec: MigrateSpec, folder: Path, journal: Journal) -> tuple[ScanFinding, ...]:
    against = spec.against
    facts = facts_of_project(folder, against.interpreter, against.torch_version)
    workers = spec.speed.jobs or min(4, len(os.sched_getaffinity(0)))
    result = survey_project(
        folder, facts, max_workers=workers, progress=ThrottledProgress(journal).report, is_stopped=is_stop_requested
    )
    return result.findings


def apply_to_copy(changes: Changes, target: Path, run: Path, decisions: Decisions = NO_DECISIONS) -> Changes:
    """Copy the project with the accepted edits and return the changes with what was applied. Raises StudioError;
    `target` does not exist then."""
    folder = Path(changes.folder)
    replaced = edited_files(changes, folder, decisions)
    if not undo.is_written(run):
        undo.record_undo(run, folder, replaced, target=str(target))
        project_copy.write_copy(folder, target, replaced)
    return _with_result(changes, decisions, target=str(target))


def apply_to_branch(changes: Changes, name: str, run: Path, decisions: Decisions = NO_DECISIONS) -> Changes:
    """Commit the accepted edits to a new branch without touching the work tree. Raises StudioError."""
    folder = Path(changes.folder)
    replaced = edited_files(changes, folder, decisions)
    if not undo.is_written(run):
        commit = git_branch.create_commit(folder, replaced, _commit_message(changes, replaced))
        undo.record_undo(run, folder, replaced, branch=name, commit=commit)
        git_branch.create_branch(folder, name, commit)
    return _with_result(changes, decisions, branch=name)


def _with_result(changes: Changes, decisions: Decisions, *, target: str = "", branch: str = "") -> Changes:
    ids = tuple(hunk.id for hunk in accepted_hunks(changes, decisions))
    return msgspec.structs.replace(changes, target=target, branch=branch, applied=ids)


def _commit_message(changes: Changes, replaced: Sequence[ReplacedFile]) -> str:
    return f"Migrate to Ascend NPUs, style {changes.style}\n\nFiles: {len(replaced)}\n"


def _with_states_after(spec: MigrateSpec, changes: Changes, folder: Path, journal: Journal) -> Changes:
    findings = settle_findings(folder, _scan(spec, folder, journal), changes.style)
    return msgspec.structs.replace(changes, after=_count_open(spec.migrated.path, findings))


def _count_open(project: Path, findings: Sequence[ScanFinding]) -> dict[str, int]:
    """Count findings by state as the scan's overview does: without those that the project suppresses."""
    return count_open_places(findings, read_suppressions(project))


def _write_branch_files(folder: Path, target: Path, planned: Changes, decisions: Decisions) -> None:
    """Write what a scan would read of the branch."""
    replaced = edited_files(planned, folder, decisions)
    after = {file.path: file.after for file in replaced}
    for file in replaced:
        if file.is_new:
            (target / file.path).parent.mkdir(parents=True, exist_ok=True)
            (target / file.path).write_bytes(file.after)
    for entry in walk_project(folder):
        if isinstance(entry, SourceFile):
            (target / entry.path).parent.mkdir(parents=True, exist_ok=True)
            (target / entry.path).write_bytes(after.get(entry.path) or Path(entry.real).read_bytes())


def _read_decisions(spec: MigrateSpec, planned: Changes) -> Decisions:
    """Return the decisions of the spec. Raises StudioError where their file cannot be read as such."""
    decisions = NO_DECISIONS
    if spec.migrated.decisions != Path():
        try:
            decisions = msgspec.json.decode(files.read_bytes(spec.migrated.decisions), type=Decisions)
        except OSError as error:
            raise from_os(error, spec.migrated.decisions) from error
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise StudioError("migration.migrate.no_decisions", path=str(spec.migrated.decisions)) from error
    if spec.migrated.accept == "all":
        offered = (hunk.id for hunk in planned.hunks() if hunk.state == "offered" and hunk.id not in decisions.reject)
        decisions = msgspec.structs.replace(decisions, accept=(*decisions.accept, *offered))
    return reject_unlisted(planned, decisions) if spec.migrated.accept == "listed" else decisions


def _write_changes(run: Run, changes: Changes) -> None:
    try:
        files.write_json(run.folder / CHANGES_FILE, changes)
    except OSError as error:
        raise from_os(error, run.folder) from error


def change_figures(changes: Changes) -> dict[str, Any]:
    """Return the figures of a plan or its result; `hunks` and `files` count what was applied, or would be;
    `offered` what was not."""
    counts = Counter(hunk.state for hunk in changes.hunks())
    chosen = set(changes.applied) or {hunk.id for hunk in accepted_hunks(changes)}
    return {
        "hunks": len(chosen),
        "files": len({hunk.path for hunk in changes.hunks() if hunk.id in chosen}),
        "yours": counts["yours"],
        "offered": sum(hunk.state == "offered" and hunk.id not in chosen for hunk in changes.hunks()),
        "target": changes.target or changes.branch,
        "withdrawn": sum(bool(file.withdrawn) for file in changes.files),
    }


def migrate_answer(run: Run) -> dict[str, Any]:
    """Return what `--json` adds: how much was changed, findings per state before and after, and what is left to a
    person."""
    try:
        changes = msgspec.json.decode(files.read_bytes(run.folder / CHANGES_FILE), type=Changes)
    except (OSError, msgspec.MsgspecError):
        return {}
    manual_hunks = [
        {"path": hunk.path, "line": hunk.first, "end": hunk.last, "rules": list(hunk.rules)}
        for hunk in changes.hunks()
        if hunk.state == "yours"
    ]
    return {
        "style": changes.style,
        **change_figures(changes),
        "before": changes.before,
        "after": changes.after,
        "left": manual_hunks,
        "changes": str(run.folder / CHANGES_FILE),
        "undo": str(run.folder),
    }
