"""What becomes of the findings of one text: edits, lines before its own, and what is left to a person."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backends.migration.migrate import prelude, python_edits, text_edits
from backends.migration.migrate.draft import Draft, fits
from backends.migration.migrate.hunks import lines_of
from backends.migration.migrate.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.migration.found import Found
    from backends.migration.migrate.changes import Style
    from backends.migration.migrate.draft import Name
    from backends.migration.migrate.prelude import Anchor, Prelude
    from backends.migration.migrate.reach import Lines
    from backends.migration.migrate.source import Source

NO_PYTHON = "migration.migrate.no_python"


@dataclass(kw_only=True)
class Planned:
    """`left`: findings without a safe edit. `prelude`: the finding at the anchor, with the lines there."""

    edits: list[tuple[Found, list[Draft]]] = field(default_factory=list)
    left: list[Found] = field(default_factory=list)
    prelude: tuple[Found, Draft] | None = None
    reason: str = ""

    def drafts(self) -> list[Draft]:
        return [draft for _, drafts in self.edits for draft in drafts]

    def add(self, source: Source, found: Found, drafts: list[Draft] | None, lines: set[int]) -> None:
        """Only what stays on lines of findings and crosses no other edit."""
        if drafts is None or not fits(drafts, self.drafts_near(drafts)) or not _on(source, drafts, lines):
            self.left.append(found)
        elif drafts:
            self.edits.append((found, drafts))

    def drafts_near(self, drafts: list[Draft]) -> list[Draft]:
        first, last = min((one.begin for one in drafts), default=0), max((one.end for one in drafts), default=0)
        return [one for one in self.drafts() if one.begin <= last and first <= one.end]

    def leave(self, found: Sequence[Found]) -> None:
        """Takes the edits of findings back."""
        gone = set(map(id, found))
        self.left += [one for one, _ in self.edits if id(one) in gone]
        self.edits = [(one, drafts) for one, drafts in self.edits if id(one) not in gone]


def _on(source: Source, drafts: list[Draft], lines: set[int]) -> bool:
    return all(lines.issuperset(range(first, last + 1)) for first, last in (lines_of(source, one) for one in drafts))


def lines_with(found: Sequence[Found]) -> set[int]:
    return {line for one in found for line in range(one.line, one.end + 1)}


def of_text(source: Source, found: Sequence[Found], style: Style) -> Planned:
    planned, lines = Planned(), lines_with(found)
    for one in found:
        if one.kind == "place":
            planned.add(source, one, text_edits.edits(source, one, style), lines)
    return planned


def of_python(source: Source, found: Sequence[Found], style: Style, asked: Lines) -> Planned:
    """`asked`: of the lines of transfer_to_npu, in the minimal style."""
    places = [one for one in found if one.kind == "place"]
    try:
        tree = Tree(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Planned(left=places, reason=NO_PYTHON)
    anchor = prelude.anchor_of(tree.module)
    called = prelude.prelude_of(anchor, tree.names)
    planned, lines = Planned(), lines_with(found)
    for one in places:
        planned.add(source, one, python_edits.edits(tree, one, style, called), lines)
    at = next((one for one in found if one.rule == prelude.RULE and anchor and one.end == anchor.first), None)
    if style == "explicit":
        _keep_named(tree, planned, anchor if at else None)
    if anchor and at:
        _add_prelude(source, planned, anchor, called, at, style, asked)
    return planned


def _keep_named(tree: Tree, planned: Planned, anchor: Anchor | None) -> None:
    """Without an anchor no edit can use its names, and none above it can that runs at import."""
    above = len(tree.source.text) + 1
    if anchor:
        behind = len(tree.source.line(anchor.first)) if anchor.after else 0
        above = tree.source.offset(anchor.first, 0) + behind
    early = [
        found
        for found, drafts in planned.edits
        if any(one.needs and one.begin < above for one in drafts) and (anchor is None or _is_early(tree, found))
    ]
    planned.leave(early)


def _is_early(tree: Tree, found: Found) -> bool:
    node = tree.around(found, ast.expr)
    return node is None or tree.runs_at_import(node)


def _add_prelude(
    source: Source, planned: Planned, anchor: Anchor, called: Prelude, at: Found, style: Style, asked: Lines
) -> None:
    needs: set[Name] = {name for one in planned.drafts() for name in one.needs}
    wanted = bool(needs) if style == "explicit" else bool(asked)
    if not wanted or (style == "minimal" and "transfer_to_npu" in source.text):
        return
    after = anchor.after
    begin = source.offset(anchor.first, 0)
    lines = prelude.prelude_lines(style, called, needs, brings_torch=not anchor.torch)
    if after:
        begin += len(source.line(anchor.first).rstrip("\r\n"))
    text = "".join(source.newline + line if after else line + source.newline for line in lines)
    offered = style == "minimal" and asked == "offered"
    planned.prelude = (at, Draft(begin=begin, end=begin, text=text, offered=offered))
