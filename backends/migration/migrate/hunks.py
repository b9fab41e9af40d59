"""Hunks made from drafts: edits that share lines become one hunk."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backends.migration.migrate.changes import Edit, Hunk, hunk_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from backends.migration.finding import ScanFinding
    from backends.migration.migrate.changes import HunkState
    from backends.migration.migrate.draft import Draft
    from backends.migration.migrate.source_text import SourceText


GROUP_SEPARATOR = ", "


@dataclass(kw_only=True)
class HunkDraft:
    """The lines of a future hunk, with the drafts and findings on them."""

    first: int
    last: int
    drafts: list[Draft] = field(default_factory=list)
    findings: list[ScanFinding] = field(default_factory=list)


def draft_lines(source: SourceText, draft: Draft) -> tuple[int, int]:
    """Return the first and last line of a draft. Text inserted after the last character of a line belongs to that
    line."""
    first = source.line_at(draft.begin)
    return first, max(first, source.line_at(draft.end - 1) if draft.end > draft.begin else first)


def draft_hunks(source: SourceText, planned: Iterable[tuple[ScanFinding, list[Draft]]]) -> list[HunkDraft]:
    """Group drafts by line: those that touch the same line belong together."""
    rows = [
        HunkDraft(first=first, last=last, drafts=[draft], findings=[finding])
        for finding, drafts in planned
        for draft in drafts
        for first, last in (draft_lines(source, draft),)
    ]
    rows.sort(key=lambda row: (row.first, row.last))
    joined: list[HunkDraft] = []
    for row in rows:
        if joined and row.first <= joined[-1].last:
            joined[-1].last = max(joined[-1].last, row.last)
            joined[-1].drafts += row.drafts
            joined[-1].findings += row.findings
        else:
            joined.append(row)
    return joined


def apply_drafts(text: str, start: int, drafts: Iterable[Draft]) -> tuple[str, tuple[Edit, ...]]:
    """Apply drafts to a text that begins at offset `start` of the file. Of two insertions at one offset, the first
    given comes first."""
    unique = sorted(dict.fromkeys(drafts), key=lambda draft: (draft.begin, draft.end))
    result, position = [], start
    for draft in unique:
        result += [text[position - start : draft.begin - start], draft.text]
        position = draft.end
    result.append(text[position - start :])
    edits = tuple(Edit(begin=draft.begin - start, end=draft.end - start, text=draft.text) for draft in unique)
    return "".join(result), edits


def make_hunk(source: SourceText, hunk_draft: HunkDraft, needs: tuple[str, ...]) -> Hunk:
    """Make a hunk of drafts that belong together. `needs`: ids of hunks that it cannot do without."""
    before = source.lines(hunk_draft.first, hunk_draft.last)
    after, edits = apply_drafts(before, source.offset(hunk_draft.first, 0), hunk_draft.drafts)
    state: HunkState = "offered" if any(draft.offered for draft in hunk_draft.drafts) else "ready"
    path = hunk_draft.findings[0].path
    return Hunk(
        id=hunk_id(path, hunk_draft.first, before, after),
        path=path,
        first=hunk_draft.first,
        last=hunk_draft.last,
        before=before,
        after=after,
        edits=edits,
        rules=_rules(hunk_draft.findings),
        state=state,
        needs=needs,
        group=GROUP_SEPARATOR.join(sorted({draft.group for draft in hunk_draft.drafts if draft.group})),
        cell=hunk_draft.findings[0].cell,
    )


def make_manual_hunk(source: SourceText, first: int, last: int, findings: list[ScanFinding]) -> Hunk:
    """Make a hunk without an edit, for lines that a person has to see to."""
    before = source.lines(first, last)
    rules = _rules(findings)
    return Hunk(
        id=hunk_id(findings[0].path, first, before, " ".join(rules)),
        path=findings[0].path,
        first=first,
        last=last,
        before=before,
        after=before,
        rules=rules,
        state="yours",
        cell=findings[0].cell,
    )


def join_groups(groups: Iterable[str]) -> dict[str, str]:
    """Merge groups that meet in one hunk: return the merged group of each."""
    connected: dict[str, set[str]] = {}
    for group in groups:
        together = set(group.split(GROUP_SEPARATOR)).union(
            *(connected.get(name, ()) for name in group.split(GROUP_SEPARATOR))
        )
        connected.update(dict.fromkeys(together, together))
    return {group: GROUP_SEPARATOR.join(sorted(connected[group.split(GROUP_SEPARATOR)[0]])) for group in groups}


def _rules(findings: Iterable[ScanFinding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(finding.rule for finding in findings))


def render_hunks(source: SourceText, hunks: Iterable[Hunk], edited: Mapping[str, str] | None = None) -> str:
    """Return the file's text with these hunks applied. `edited`: text that a person wrote in place of `after`, by id.
    Raises ValueError where lines differ from those planned on."""
    result, line = [], 1
    for hunk in sorted(hunks, key=lambda hunk: (hunk.first, hunk.last)):
        if hunk.first < line or source.lines(hunk.first, hunk.last) != hunk.before:
            raise ValueError(hunk.id)
        result.append(source.lines(line, hunk.first - 1))
        result.append((edited or {}).get(hunk.id, hunk.after))
        line = hunk.last + 1
    return "".join((*result, source.lines(line, len(source.starts))))
