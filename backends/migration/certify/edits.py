"""What was changed from the original to the migrated project, file by file."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Literal

import msgspec

from backends.migration.certify import tree

if TYPE_CHECKING:
    from pathlib import Path

    from backends.migration.certify.tree import Entry

MOST_OCTETS = 2 << 20
MOST = 1000


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """`added`, `removed`: lines of a changed file; 0 of one that is too large."""

    path: str
    how: Literal["changed", "added", "removed"]
    added: int = 0
    removed: int = 0


def edits(original: Path, migrated: Path) -> tuple[Edit, ...]:
    """At most MOST of them; raises OSError where a folder cannot be read."""
    old, new = _files(original, migrated), _files(migrated, original)
    found = [_edit(path, original, migrated, old.get(path), new.get(path)) for path in sorted({*old, *new})]
    return tuple(one for one in found if one is not None)[:MOST]


def _files(top: Path, other: Path) -> dict[str, Entry]:
    without = other if other != top and other.is_relative_to(top) else None
    return {one.path: one for one in tree.entries(top, without=without) if one.kind == "file"}


def _edit(path: str, original: Path, migrated: Path, old: Entry | None, new: Entry | None) -> Edit | None:
    if old is None or new is None:
        return Edit(path=path, how="added" if old is None else "removed")
    if max(old.size, new.size) > MOST_OCTETS:
        return None if old.size == new.size else Edit(path=path, how="changed")
    before, after = _lines(original / path), _lines(migrated / path)
    if before == after:
        return None
    told = list(difflib.unified_diff(before, after, n=0))[2:]
    added, removed = (sum(line[0] == sign for line in told) for sign in "+-")
    return Edit(path=path, how="changed", added=added, removed=removed)


def _lines(path: Path) -> list[str]:
    """Octet by octet, so that no encoding hides a difference."""
    try:
        return path.read_bytes().decode("latin-1").split("\n")
    except OSError:
        return []
