"""One undo for all: what a migration wrote, and how to take it back. Kept in the run, written before the target is.

artifacts/undo.json, artifacts/originals/<number>: the bytes of each changed file as they were
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from backends.migration.migrate import git
from backends.migration.migrate.copy import making_of
from studio import files
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.migration.migrate.result import Replaced

FILE = "artifacts/undo.json"
ORIGINALS = "artifacts/originals"


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was changed: SHA-256 of both states, and the name of the file with the first."""

    path: str
    before: str
    after: str
    original: str


class Undo(msgspec.Struct, frozen=True, kw_only=True):
    """`folder`: of the project; `target`: the copy, or empty for a branch."""

    folder: str
    target: str = ""
    branch: str = ""
    commit: str = ""
    files: tuple[Kept, ...] = ()


def keep(
    run: Path, folder: Path, replaced: Sequence[Replaced], *, target: str = "", branch: str = "", commit: str = ""
) -> Undo:
    """Raises StudioError."""
    kept = []
    try:
        (run / ORIGINALS).mkdir(parents=True, exist_ok=True)
        for number, one in enumerate(replaced):
            files.write_whole(run / ORIGINALS / str(number), one.before)
            kept.append(Kept(path=one.path, before=_digest(one.before), after=_digest(one.after), original=str(number)))
        undo = Undo(folder=str(folder), target=target, branch=branch, commit=commit, files=tuple(kept))
        files.write_json(run / FILE, undo)
    except OSError as error:
        raise from_os(error, run) from error
    return undo


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read(run: Path) -> Undo:
    """Raises StudioError where the run changed nothing, or its record is damaged."""
    try:
        return msgspec.convert(files.read_json(run / FILE), Undo)
    except msgspec.ValidationError as error:
        raise StudioError("migration.migrate.no_undo", run=run.name) from error


def take_back(run: Path) -> Undo:
    """Restores every byte; a second time, or after a kill in the middle, it does what is left. Raises StudioError and
    touches nothing where a file was changed since."""
    undo = read(run)
    if undo.branch:
        git.delete_branch(Path(undo.folder), undo.branch, undo.commit)
        return undo
    target = Path(undo.target)
    if not os.path.lexists(target):  # its migration was killed before there was anything to take back
        shutil.rmtree(making_of(target), ignore_errors=True)
        return undo
    waiting = [one for one in undo.files if _state(target, one) == "after"]
    for one in waiting:
        _restore(target / one.path, (run / ORIGINALS / one.original).read_bytes(), one)
    return undo


def _state(target: Path, one: Kept) -> str:
    try:
        found = _digest((target / one.path).read_bytes())
    except FileNotFoundError as error:
        raise StudioError("migration.migrate.changed_since", path=one.path) from error
    except OSError as error:
        raise from_os(error, target / one.path) from error
    if found == one.before:
        return "before"
    if found != one.after:
        raise StudioError("migration.migrate.changed_since", path=one.path)
    return "after"


def _restore(path: Path, data: bytes, one: Kept) -> None:
    if _digest(data) != one.before:
        raise StudioError("migration.migrate.no_undo", run=path.name)
    beside = path.with_name(f".{path.name}.undoing")  # the next try writes over what a kill left of it
    try:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(path.stat().st_mode)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise from_os(error, path) from error


def is_made(run: Path) -> bool:
    """Whether an earlier worker of the run, which was killed, has come as far as the whole copy or the branch."""
    if not (run / FILE).exists():
        return False
    undo = read(run)
    if undo.branch:
        return git.commit_of(Path(undo.folder), undo.branch) == undo.commit
    target = Path(undo.target)
    return target.is_dir() and all(_state(target, one) == "after" for one in undo.files)
