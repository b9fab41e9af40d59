"""A plan made off the UI thread, with what its diff is shown with: the lines around its hunks, and their findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ui.migration.excerpt import read_lines

if TYPE_CHECKING:
    from pathlib import Path

    from backends.migration.found import Found
    from backends.migration.migrate.changes import Changes, Hunk, Style


@dataclass(frozen=True, kw_only=True)
class Plan:
    """`lines`: of each file; `found`: the findings that each hunk answers, by its id."""

    changes: Changes
    lines: dict[str, tuple[str, ...]]
    found: dict[str, tuple[Found, ...]]


def make_plan(folder: Path, findings: tuple[Found, ...], style: Style) -> Plan:
    """Imports what makes the edits only here: it takes longer than a frame."""
    from backends.migration.migrate.plan import changes

    made = changes(folder, findings, style)
    lines = {file.path: read_lines(folder, file.path) for file in made.files}
    return Plan(changes=made, lines=lines, found=found_by_hunk(made, findings))


def found_by_hunk(plan: Changes, findings: tuple[Found, ...]) -> dict[str, tuple[Found, ...]]:
    """On its lines, or by its rules where a cell has lines of its own."""
    by_file: dict[str, list[Found]] = {}
    for found in findings:
        by_file.setdefault(found.path, []).append(found)
    return {hunk.id: tuple(_asking(hunk, by_file.get(hunk.path, []))) for hunk in plan.hunks()}


def _asking(hunk: Hunk, findings: list[Found]) -> list[Found]:
    mine = [found for found in findings if found.rule in hunk.rules and found.cell == hunk.cell]
    if hunk.cell is not None:
        return mine
    return [found for found in mine if found.line <= hunk.last and found.end >= hunk.first]
