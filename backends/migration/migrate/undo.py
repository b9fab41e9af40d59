"""Undo of a migration: what was written and how to take it back, recorded in the run before the target is written.

artifacts/undo.json, artifacts/originals/<number>: the bytes of each changed file as they were
"""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from backends.migration.migrate import git_branch
from backends.migration.migrate.project_copy import unfinished_copy
from studio import files
from studio.errors import StudioError, from_os
from studio.security import ledger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.migration.migrate.replaced_files import ReplacedFile

UNDO_FILE = "artifacts/undo.json"
ORIGINALS = "artifacts/originals"


class OriginalFile(msgspec.Struct, frozen=True, kw_only=True):
    """A changed file: SHA-256 before and after, and the name of the file with its original bytes; `before` is "" for a
    file that the migration created."""

    path: str
    before: str
    after: str
    original: str


class Undo(msgspec.Struct, frozen=True, kw_only=True):
    """What a migration wrote. `folder`: the project; `target`: the copy, "" for a branch."""

    folder: str
    target: str = ""
    branch: str = ""
    commit: str = ""
    files: tuple[OriginalFile, ...] = ()


def record_undo(
    run: Path, folder: Path, replaced: Sequence[ReplacedFile], *, target: str = "", branch: str = "", commit: str = ""
) -> Undo:
    """Save the original files and the record. Raises StudioError."""
    originals = []
    try:
        (run / ORIGINALS).mkdir(parents=True, exist_ok=True)
        for number, file in enumerate(replaced):
            files.write_whole(run / ORIGINALS / str(number), file.before)
            originals.append(
                OriginalFile(
                    path=file.path,
                    before="" if file.is_new else _digest(file.before),
                    after=_digest(file.after),
                    original=str(number),
                )
            )
        undo = Undo(folder=str(folder), target=target, branch=branch, commit=commit, files=tuple(originals))
        files.write_json(run / UNDO_FILE, undo)
    except OSError as error:
        raise from_os(error, run) from error
    with suppress(OSError):  # without a home to write to, the migration counts and is undone by hand
        ledger.remember(run / UNDO_FILE)
    return undo


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read_undo(run: Path) -> Undo:
    """Read the record of a run. Raises StudioError where the run changed nothing, or its record is damaged."""
    try:
        return msgspec.convert(files.read_json(run / UNDO_FILE), Undo)
    except msgspec.ValidationError as error:
        raise StudioError("migration.migrate.no_undo", run=run.name) from error


def undo_migration(run: Path) -> Undo:
    """Restore every byte; run again, or after a kill half-way, it does what is left. Raises StudioError and touches
    nothing where a file was changed since, or where the record is not this user's: it names files to write to."""
    undo = read_undo(run)
    if not ledger.is_remembered(run / UNDO_FILE):
        raise StudioError("migration.migrate.foreign_undo", run=run.name, originals=str(run / ORIGINALS))
    if undo.branch:
        git_branch.delete_branch(Path(undo.folder), undo.branch, undo.commit)
        return undo
    target = Path(undo.target)
    if not os.path.lexists(target):  # The migration was killed before there was anything to undo.
        shutil.rmtree(unfinished_copy(target), ignore_errors=True)
        return undo
    waiting = [file for file in undo.files if _state(target, file) == "after"]
    for file in waiting:
        _restore(target / file.path, (run / ORIGINALS / file.original).read_bytes(), file)
    return undo


def _state(target: Path, file: OriginalFile) -> str:
    try:
        digest = _digest((target / file.path).read_bytes())
    except FileNotFoundError as error:
        if not file.before:
            return "before"
        raise StudioError("migration.migrate.changed_since", path=file.path) from error
    except OSError as error:
        raise from_os(error, target / file.path) from error
    if digest == file.before:
        return "before"
    if digest != file.after:
        raise StudioError("migration.migrate.changed_since", path=file.path)
    return "after"


def _restore(path: Path, data: bytes, original: OriginalFile) -> None:
    """Replace a file by its original bytes in one step; remove one that was not there."""
    if not original.before:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise from_os(error, path) from error
        return
    if _digest(data) != original.before:
        raise StudioError("migration.migrate.no_undo", run=path.name)
    scratch = path.with_name(f".{path.name}.undoing")  # The next attempt overwrites what a kill left.
    try:
        with scratch.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        scratch.chmod(path.stat().st_mode)
        scratch.replace(path)
    except OSError as error:
        scratch.unlink(missing_ok=True)
        raise from_os(error, path) from error


def is_written(run: Path) -> bool:
    """Tell whether an earlier worker of this run that was killed had completed the copy or the branch."""
    if not (run / UNDO_FILE).exists():
        return False
    undo = read_undo(run)
    if undo.branch:
        return git_branch.last_commit(Path(undo.folder), undo.branch) == undo.commit
    target = Path(undo.target)
    return target.is_dir() and all(_state(target, file) == "after" for file in undo.files)
