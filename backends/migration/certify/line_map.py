"""Lines of the original and those that stand in their place in the migrated project."""

from __future__ import annotations

import difflib
from functools import lru_cache
from typing import TYPE_CHECKING

from backends.migration.scan.text_files import UnreadableFile, decode_source, read_regular_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from backends.migration.certify.file_edits import FileEdit

MAX_FILE_BYTES = 1 << 20


def migrated_line(original: Path, migrated: Path, path: str, line: int) -> tuple[str, int]:
    """Return path and line of what stands in the migrated project where a line of the original stood."""
    for _, first, last, new_first, new_last in _changes(original / path, migrated / path):
        if first <= line - 1 < last:
            return path, new_first + min(line - 1 - first, max(0, new_last - new_first - 1)) + 1
    return path, line


def edited_lines(original: Path, migrated: Path, edits: Iterable[FileEdit]) -> dict[str, set[int]]:
    """Return the lines of Python files that the migration changed or put in, by path."""
    lines: dict[str, set[int]] = {}
    for edit in edits:
        if edit.path.endswith(".py") and edit.how == "changed":
            changes = _changes(original / edit.path, migrated / edit.path)
            numbers = {
                number for kind, *_, first, last in changes if kind != "equal" for number in range(first + 1, last + 1)
            }
            lines[edit.path] = numbers
    return lines


@lru_cache(maxsize=64)
def _changes(before: Path, after: Path) -> Sequence[tuple[str, int, int, int, int]]:
    old, new = _lines(before), _lines(after)
    return difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


def _lines(path: Path) -> list[str]:
    try:
        return decode_source(read_regular_file(path, MAX_FILE_BYTES)).text.splitlines()
    except UnreadableFile:
        return []
