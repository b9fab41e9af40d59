"""A file with some of its hunks in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from backends.migration.migrate.changes import Hunk
    from backends.migration.migrate.source import Source


def rendered(source: Source, hunks: Iterable[Hunk], edited: Mapping[str, str] | None = None) -> str:
    """`edited`: what a person wrote in place of `after`, by id. Raises ValueError where lines are not as planned."""
    result, line = [], 1
    for hunk in sorted(hunks, key=lambda one: (one.first, one.last)):
        if hunk.first < line or source.lines(hunk.first, hunk.last) != hunk.before:
            raise ValueError(hunk.id)
        result.append(source.lines(line, hunk.first - 1))
        result.append((edited or {}).get(hunk.id, hunk.after))
        line = hunk.last + 1
    return "".join((*result, source.lines(line, len(source.starts))))
