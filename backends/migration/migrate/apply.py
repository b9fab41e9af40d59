"""Writes the result: a copy of the project, or a branch. What undoes it is written first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from backends.migration.migrate import copy, git, undo
from backends.migration.migrate.decided import NOTHING_SAID, decided
from backends.migration.migrate.result import results

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.migration.migrate.changes import Changes, Decisions
    from backends.migration.migrate.result import Replaced


def into_copy(changes: Changes, target: Path, run: Path, decisions: Decisions = NOTHING_SAID) -> Changes:
    """The changes with what was applied. Raises StudioError; then `target` is not there."""
    folder = Path(changes.folder)
    replaced = results(changes, folder, decisions)
    if not undo.is_made(run):
        undo.keep(run, folder, replaced, target=str(target))
        copy.write_copy(folder, target, replaced)
    return _applied(changes, decisions, target=str(target))


def into_branch(changes: Changes, name: str, run: Path, decisions: Decisions = NOTHING_SAID) -> Changes:
    """The same as a commit on a new branch; the work tree is not touched. Raises StudioError."""
    folder = Path(changes.folder)
    replaced = results(changes, folder, decisions)
    if not undo.is_made(run):
        commit = git.commit(folder, replaced, _message(changes, replaced))
        undo.keep(run, folder, replaced, branch=name, commit=commit)
        git.begin_branch(folder, name, commit)
    return _applied(changes, decisions, branch=name)


def _applied(changes: Changes, decisions: Decisions, *, target: str = "", branch: str = "") -> Changes:
    ids = tuple(hunk.id for hunk in decided(changes, decisions))
    return msgspec.structs.replace(changes, target=target, branch=branch, applied=ids)


def _message(changes: Changes, replaced: Sequence[Replaced]) -> str:
    return f"Migrate to Ascend NPUs, style {changes.style}\n\nFiles: {len(replaced)}\n"
