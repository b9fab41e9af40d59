"""A migration, in the worker: artifacts/changes.json, and the result where one was asked for."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from backends.migration.migrate import apply, undo
from backends.migration.migrate.answer import FILE, figures
from backends.migration.migrate.changes import Changes, Decisions
from backends.migration.migrate.decided import NOTHING_SAID, changed_since, only_listed
from backends.migration.migrate.plan import changes, settled
from backends.migration.migrate.result import results
from backends.migration.scan.facts.facts import facts_in
from backends.migration.scan.overview import per_state
from backends.migration.scan.scan import Stopped, survey
from backends.migration.scan.walk import Entry, walk
from studio import files
from studio.errors import StudioError, from_os
from studio.events import Artifact, Ended, Journal, Note, Progress
from studio.supervisor import STOP

if TYPE_CHECKING:
    from backends.migration.found import Found
    from backends.migration.migrate.spec import MigrateSpec
    from studio.run import Run


def migrate(spec: MigrateSpec, run: Run) -> Ended:
    """Raises StudioError."""
    journal = Journal(run.folder, 1)
    if spec.result.undo != Path():
        done = undo.take_back(spec.result.undo)
        journal.write(Note(key="migration.migrate.undone", args={"target": done.target or done.branch}))
        return Ended(code=0)
    try:
        made = _migrated(spec, run, journal)
    except Stopped:
        return Ended(code=128 + signal.SIGTERM, reason="stopped")
    _keep(run, made)
    journal.write(Artifact(kind="changes", path=FILE))
    key = "migration.migrate.done" if made.target or made.branch else "migration.migrate.planned"
    journal.write(Note(key=key, args=figures(made)))
    return Ended(code=0)


def _migrated(spec: MigrateSpec, run: Run, journal: Journal) -> Changes:
    folder = spec.migrated.path
    found = _scan(spec, folder, journal)
    planned = changes(folder, found, spec.migrated.style)
    planned = msgspec.structs.replace(planned, before=per_state(found, "place"))
    _keep(run, planned)
    said = _said(spec, planned)
    planned = msgspec.structs.replace(planned, changed=changed_since(planned, said))
    if spec.result.branch:
        made = apply.into_branch(planned, spec.result.branch, run.folder, said)
        with tempfile.TemporaryDirectory(prefix="ascend-studio-") as scratch:
            _sources(folder, Path(scratch), planned, said)
            return _scanned_again(spec, made, Path(scratch), journal)
    if spec.result.into != Path():
        made = apply.into_copy(planned, spec.result.into, run.folder, said)
        return _scanned_again(spec, made, spec.result.into, journal)
    return planned


def _scan(spec: MigrateSpec, folder: Path, journal: Journal) -> tuple[Found, ...]:
    against = spec.against
    facts = facts_in(folder, against.interpreter, against.torch_version)
    hands = spec.speed.jobs or min(4, len(os.sched_getaffinity(0)))
    done = survey(folder, facts, hands=hands, progress=_progress(journal), stopped=lambda: bool(STOP.asked))
    return done.found


def _progress(journal: Journal) -> Any:
    """One event for each hundredth of the way."""
    told = [-1]

    def tell(done: int, total: int, phase: str) -> None:
        hundredth = 100 * done // max(1, total)
        if hundredth != told[0]:
            told[0] = hundredth
            journal.write(Progress(done=done, total=total, phase=phase))

    return tell


def _scanned_again(spec: MigrateSpec, made: Changes, folder: Path, journal: Journal) -> Changes:
    found = settled(folder, _scan(spec, folder, journal), made.style)
    return msgspec.structs.replace(made, after=per_state(found, "place"))


def _sources(folder: Path, target: Path, planned: Changes, said: Decisions) -> None:
    """What a scan would read of the branch."""
    after = {one.path: one.after for one in results(planned, folder, said)}
    for entry in walk(folder):
        if isinstance(entry, Entry):
            (target / entry.path).parent.mkdir(parents=True, exist_ok=True)
            (target / entry.path).write_bytes(after.get(entry.path) or Path(entry.real).read_bytes())


def _said(spec: MigrateSpec, planned: Changes) -> Decisions:
    """Raises StudioError where the file is no decisions."""
    said = NOTHING_SAID
    if spec.migrated.decisions != Path():
        try:
            said = msgspec.json.decode(spec.migrated.decisions.read_bytes(), type=Decisions)
        except OSError as error:
            raise from_os(error, spec.migrated.decisions) from error
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise StudioError("migration.migrate.no_decisions", path=str(spec.migrated.decisions)) from error
    if spec.migrated.accept == "all":
        offered = (hunk.id for hunk in planned.hunks() if hunk.state == "offered" and hunk.id not in said.reject)
        said = msgspec.structs.replace(said, accept=(*said.accept, *offered))
    return only_listed(planned, said) if spec.migrated.accept == "listed" else said


def _keep(run: Run, made: Changes) -> None:
    try:
        files.write_json(run.folder / FILE, made)
    except OSError as error:
        raise from_os(error, run.folder) from error
