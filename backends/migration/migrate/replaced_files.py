"""The contents of the files that a migration changes."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from backends.migration.migrate.decisions import NO_DECISIONS, accepted_hunks
from backends.migration.migrate.hunks import render_hunks
from backends.migration.migrate.plan import parses
from backends.migration.migrate.source_text import SourceText
from backends.migration.scan.text_files import decode_source
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from pathlib import Path

    from backends.migration.migrate.changes import Changes, Decisions, FileChanges, Hunk


class ReplacedFile:
    """The bytes of a file before and after. `is_new`: there is no such file before."""

    def __init__(self, *, path: str, before: bytes, after: bytes, is_new: bool = False) -> None:
        self.path = path
        self.before = before
        self.after = after
        self.is_new = is_new


def edited_files(changes: Changes, root: Path, decisions: Decisions = NO_DECISIONS) -> list[ReplacedFile]:
    """Return the files below `root` with an accepted hunk. Raises StudioError where a file differs from the one
    planned on, no longer parses, or cannot be encoded."""
    chosen = accepted_hunks(changes, decisions)
    by_path: dict[str, list[Hunk]] = {}
    for hunk in chosen:
        by_path.setdefault(hunk.path, []).append(hunk)
    return [_edit_file(root, file, by_path[file.path], decisions) for file in changes.files if file.path in by_path]


def _edit_file(root: Path, file: FileChanges, hunks: list[Hunk], decisions: Decisions) -> ReplacedFile:
    if not file.digest:
        return _new_file(root, file, hunks, decisions)
    try:
        before = (root / file.path).read_bytes()
    except OSError as error:
        raise from_os(error, root / file.path) from error
    if hashlib.sha256(before).hexdigest() != file.digest:
        raise StudioError("migration.migrate.changed_since", path=file.path)
    text = render_hunks(SourceText(path=file.path, text=decode_source(before).text), hunks, decisions.edited)
    if not parses(file.path, text):
        raise StudioError("migration.migrate.edit_does_not_parse", path=file.path)
    try:
        return ReplacedFile(path=file.path, before=before, after=text.encode(file.encoding))
    except UnicodeError as error:
        raise StudioError("migration.migrate.not_in_encoding", path=file.path, encoding=file.encoding) from error


def _new_file(root: Path, file: FileChanges, hunks: list[Hunk], decisions: Decisions) -> ReplacedFile:
    if os.path.lexists(root / file.path):
        raise StudioError("migration.migrate.changed_since", path=file.path)
    text = "".join(decisions.edited.get(hunk.id, hunk.after) for hunk in hunks)
    if not parses(file.path, text):
        raise StudioError("migration.migrate.edit_does_not_parse", path=file.path)
    return ReplacedFile(path=file.path, before=b"", after=text.encode(file.encoding), is_new=True)
