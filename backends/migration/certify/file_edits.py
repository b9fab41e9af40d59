"""What changed between the original and the migrated project, file by file."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Literal

import msgspec

from backends.migration.certify import project_files

if TYPE_CHECKING:
    from pathlib import Path

    from backends.migration.certify.project_files import ProjectEntry

MAX_FILE_BYTES = 2 << 20
MAX_EDITS = 1000


class FileEdit(msgspec.Struct, frozen=True, kw_only=True):
    """A changed, added or removed file. `added`, `removed`: number of lines; 0 for a file too large to compare."""

    path: str
    how: Literal["changed", "added", "removed"]
    added: int = 0
    removed: int = 0


def compare_files(original: Path, migrated: Path) -> tuple[FileEdit, ...]:
    """Return up to MAX_EDITS differing files, by path. Raises OSError where a folder cannot be read."""
    old, new = _files(original, migrated), _files(migrated, original)
    edits = [_edit(path, original, migrated, old.get(path), new.get(path)) for path in sorted({*old, *new})]
    return tuple(edit for edit in edits if edit is not None)[:MAX_EDITS]


def _files(top: Path, other: Path) -> dict[str, ProjectEntry]:
    excluded = other if other != top and other.is_relative_to(top) else None
    return {entry.path: entry for entry in project_files.list_entries(top, excluded=excluded) if entry.kind == "file"}


def _edit(
    path: str, original: Path, migrated: Path, old: ProjectEntry | None, new: ProjectEntry | None
) -> FileEdit | None:
    if old is None or new is None:
        return FileEdit(path=path, how="added" if old is None else "removed")
    if max(old.size, new.size) > MAX_FILE_BYTES:
        return None if old.size == new.size else FileEdit(path=path, how="changed")
    before, after = _lines(original / path), _lines(migrated / path)
    if before == after:
        return None
    changes = list(difflib.unified_diff(before, after, n=0))[2:]
    added, removed = (sum(line[0] == sign for line in changes) for sign in "+-")
    return FileEdit(path=path, how="changed", added=added, removed=removed)


def _lines(path: Path) -> list[str]:
    """Decode a file byte by byte, so that no encoding hides a difference."""
    try:
        return path.read_bytes().decode("latin-1").split("\n")
    except OSError:
        return []
