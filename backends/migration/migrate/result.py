"""The bytes of the files that a migration changes."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from backends.migration.migrate.decided import NOTHING_SAID, decided
from backends.migration.migrate.plan import parses
from backends.migration.migrate.render import rendered
from backends.migration.migrate.source import Source
from backends.migration.scan.read import decode
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from pathlib import Path

    from backends.migration.migrate.changes import Changes, Decisions, FileChanges, Hunk


class Replaced:
    """A file's bytes before and after."""

    def __init__(self, *, path: str, before: bytes, after: bytes) -> None:
        self.path = path
        self.before = before
        self.after = after


def results(changes: Changes, root: Path, decisions: Decisions = NOTHING_SAID) -> list[Replaced]:
    """Of the files under `root` with a hunk that is in. Raises StudioError where one is not as it was planned from."""
    chosen = decided(changes, decisions)
    by_path: dict[str, list[Hunk]] = {}
    for hunk in chosen:
        by_path.setdefault(hunk.path, []).append(hunk)
    return [_of_file(root, file, by_path[file.path], decisions) for file in changes.files if file.path in by_path]


def _of_file(root: Path, file: FileChanges, hunks: list[Hunk], decisions: Decisions) -> Replaced:
    try:
        before = (root / file.path).read_bytes()
    except OSError as error:
        raise from_os(error, root / file.path) from error
    if hashlib.sha256(before).hexdigest() != file.digest:
        raise StudioError("migration.migrate.changed_since", path=file.path)
    text = rendered(Source(path=file.path, text=decode(before).text), hunks, decisions.edited)
    if not parses(file.path, text):
        raise StudioError("migration.migrate.edit_does_not_parse", path=file.path)
    try:
        return Replaced(path=file.path, before=before, after=text.encode(file.encoding))
    except UnicodeError as error:
        raise StudioError("migration.migrate.not_in_encoding", path=file.path, encoding=file.encoding) from error
