"""Drafts put together: edits that share lines are one hunk."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backends.migration.migrate.changes import Edit, Hunk, hunk_id

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.migration.found import Found
    from backends.migration.migrate.changes import HunkState
    from backends.migration.migrate.draft import Draft
    from backends.migration.migrate.source import Source


GROUPS = ", "


@dataclass(kw_only=True)
class Part:
    """The lines of one hunk to be, and what happens in them."""

    first: int
    last: int
    drafts: list[Draft] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)


def lines_of(source: Source, draft: Draft) -> tuple[int, int]:
    """What is inserted behind the last character of a line belongs to that line."""
    first = source.line_at(draft.begin)
    return first, max(first, source.line_at(draft.end - 1) if draft.end > draft.begin else first)


def parts(source: Source, planned: Iterable[tuple[Found, list[Draft]]]) -> list[Part]:
    """By line; what touches the same line comes together."""
    rows = [
        Part(first=first, last=last, drafts=[draft], found=[found])
        for found, drafts in planned
        for draft in drafts
        for first, last in (lines_of(source, draft),)
    ]
    rows.sort(key=lambda one: (one.first, one.last))
    joined: list[Part] = []
    for row in rows:
        if joined and row.first <= joined[-1].last:
            joined[-1].last = max(joined[-1].last, row.last)
            joined[-1].drafts += row.drafts
            joined[-1].found += row.found
        else:
            joined.append(row)
    return joined


def edited(text: str, start: int, drafts: Iterable[Draft]) -> tuple[str, tuple[Edit, ...]]:
    """A text that begins at offset `start` of the file, with its drafts in it. Of two insertions at one place the
    first one stands first."""
    unique = sorted(dict.fromkeys(drafts), key=lambda one: (one.begin, one.end))
    result, place = [], start
    for one in unique:
        result += [text[place - start : one.begin - start], one.text]
        place = one.end
    result.append(text[place - start :])
    edits = tuple(Edit(begin=one.begin - start, end=one.end - start, text=one.text) for one in unique)
    return "".join(result), edits


def hunk_of(source: Source, part: Part, needs: tuple[str, ...]) -> Hunk:
    before = source.lines(part.first, part.last)
    after, edits = edited(before, source.offset(part.first, 0), part.drafts)
    state: HunkState = "offered" if all(one.offered for one in part.drafts) else "ready"
    path = part.found[0].path
    return Hunk(
        id=hunk_id(path, part.first, before, after), path=path, first=part.first, last=part.last, before=before,
        after=after, edits=edits, rules=_rules(part.found), state=state, needs=needs,
        group=GROUPS.join(sorted({one.group for one in part.drafts if one.group})), cell=part.found[0].cell,
    )  # fmt: skip


def yours(source: Source, first: int, last: int, found: list[Found]) -> Hunk:
    """Lines that a person has to see to."""
    before = source.lines(first, last)
    rules = _rules(found)
    return Hunk(
        id=hunk_id(found[0].path, first, before, " ".join(rules)), path=found[0].path, first=first, last=last,
        before=before, after=before, rules=rules, state="yours", cell=found[0].cell,
    )  # fmt: skip


def joined_groups(groups: Iterable[str]) -> dict[str, str]:
    """Groups that meet in one hunk are one: what each is part of in the end."""
    known: dict[str, set[str]] = {}
    for group in groups:
        together = set(group.split(GROUPS)).union(*(known.get(one, ()) for one in group.split(GROUPS)))
        known.update(dict.fromkeys(together, together))
    return {group: GROUPS.join(sorted(known[group.split(GROUPS)[0]])) for group in groups}


def _rules(found: Iterable[Found]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.rule for one in found))
