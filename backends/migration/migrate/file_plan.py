"""The plan for one text: its edits, its prelude, and the findings left to a person."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backends.migration.migrate import prelude, python_edits, text_edits
from backends.migration.migrate.draft import Draft, are_compatible
from backends.migration.migrate.hunks import draft_lines
from backends.migration.migrate.syntax_tree import SyntaxTree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.migration.finding import ScanFinding
    from backends.migration.migrate.changes import Style
    from backends.migration.migrate.device_module import DeviceImport
    from backends.migration.migrate.draft import PreludeName
    from backends.migration.migrate.prelude import Anchor, PreludeNames
    from backends.migration.migrate.source_text import SourceText

NO_PYTHON = "migration.migrate.no_python"


@dataclass(kw_only=True)
class FilePlan:
    """`edits`: findings with their drafts; `manual_findings`: those without a safe edit; `prelude`: the finding at the
    anchor with the lines to insert there; `prelude_needs`: ids of hunks in other files without which these lines mean
    nothing; `reason`: a text key that says why nothing is edited."""

    edits: list[tuple[ScanFinding, list[Draft]]] = field(default_factory=list)
    manual_findings: list[ScanFinding] = field(default_factory=list)
    prelude: tuple[ScanFinding, Draft] | None = None
    prelude_needs: tuple[str, ...] = ()
    reason: str = ""

    def drafts(self) -> list[Draft]:
        return [draft for _, drafts in self.edits for draft in drafts]

    def add(self, source: SourceText, finding: ScanFinding, drafts: list[Draft] | None, lines: set[int]) -> None:
        """Keep the drafts of a finding if they stay on lines of findings and cross no other edit; otherwise leave it
        to a person."""
        if (
            drafts is None
            or not are_compatible(drafts, self.drafts_near(drafts))
            or not _stays_on(source, drafts, lines)
        ):
            self.manual_findings.append(finding)
        elif drafts:
            self.edits.append((finding, drafts))

    def names(self) -> frozenset[PreludeName]:
        """Return the names that the edits take from the prelude."""
        return frozenset(name for draft in self.drafts() for name in draft.needs)

    def drafts_near(self, drafts: list[Draft]) -> list[Draft]:
        first, last = min((draft.begin for draft in drafts), default=0), max((draft.end for draft in drafts), default=0)
        return [draft for draft in self.drafts() if draft.begin <= last and first <= draft.end]

    def withdraw(self, findings: Sequence[ScanFinding]) -> None:
        """Take back the edits of findings and leave these to a person."""
        withdrawn = set(map(id, findings))
        self.manual_findings += [finding for finding, _ in self.edits if id(finding) in withdrawn]
        self.edits = [(finding, drafts) for finding, drafts in self.edits if id(finding) not in withdrawn]


def _stays_on(source: SourceText, drafts: list[Draft], lines: set[int]) -> bool:
    return all(
        lines.issuperset(range(first, last + 1)) for first, last in (draft_lines(source, draft) for draft in drafts)
    )


def finding_lines(findings: Sequence[ScanFinding]) -> set[int]:
    """Return the numbers of all lines that belong to a finding."""
    return {line for finding in findings for line in range(finding.line, finding.end + 1)}


def plan_text(source: SourceText, findings: Sequence[ScanFinding], style: Style) -> FilePlan:
    """Plan the edits of a file that is not Python."""
    planned, lines = FilePlan(), finding_lines(findings)
    for finding in findings:
        if finding.is_counted:
            planned.add(source, finding, text_edits.edit_text(source, finding, style), lines)
    return planned


def plan_python(
    source: SourceText,
    findings: Sequence[ScanFinding],
    style: Style,
    *,
    has_transfer: bool,
    has_broadcast: bool = False,
    device: DeviceImport | None = None,
) -> FilePlan:
    """Plan the edits of Python code. `has_transfer`: whether it gets the lines of transfer_to_npu, in the minimal
    style; `has_broadcast`: whether it leads to a broadcast, which needs a line more; `device`: the module that the
    explicit style imports its names from, None where they are defined here."""
    places = [finding for finding in findings if finding.is_counted]
    try:
        tree = SyntaxTree(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return FilePlan(manual_findings=places, reason=NO_PYTHON)
    anchor = prelude.find_anchor(tree.module)
    names = prelude.choose_names(anchor, tree.used_names)
    planned, lines = FilePlan(), finding_lines(findings)
    for finding in places:
        planned.add(source, finding, python_edits.edit_python(tree, finding, style, names), lines)
    anchor_finding = next(
        (
            finding
            for finding in findings
            if finding.rule == prelude.PRELUDE_RULE and anchor and finding.end == anchor.first
        ),
        None,
    )
    if style == "explicit":
        _withdraw_early(tree, planned, anchor if anchor_finding else None)
    if anchor and anchor_finding:
        lines_of_style = prelude.minimal_lines(has_broadcast=has_broadcast) if has_transfer else []
        _add_prelude(source, planned, anchor, names, anchor_finding, style, minimal=lines_of_style, device=device)
    return planned


def _withdraw_early(tree: SyntaxTree, planned: FilePlan, anchor: Anchor | None) -> None:
    """Withdraw edits that use names of the prelude but run before it: all of them without an anchor, otherwise those
    above it that run at import."""
    above = len(tree.source.text) + 1
    if anchor:
        behind = len(tree.source.line(anchor.first)) if anchor.after else 0
        above = tree.source.offset(anchor.first, 0) + behind
    early = [
        finding
        for finding, drafts in planned.edits
        if any(draft.needs and draft.begin < above for draft in drafts) and (anchor is None or _is_early(tree, finding))
    ]
    planned.withdraw(early)


def _is_early(tree: SyntaxTree, finding: ScanFinding) -> bool:
    node = tree.node_around(finding, ast.expr)
    return node is None or tree.runs_at_import(node)


def _add_prelude(
    source: SourceText,
    planned: FilePlan,
    anchor: Anchor,
    called: PreludeNames,
    anchor_finding: ScanFinding,
    style: Style,
    *,
    minimal: list[str],
    device: DeviceImport | None,
) -> None:
    """`minimal`: the lines of the minimal style, none where the file gets none."""
    needs = planned.names()
    is_needed = bool(needs) if style == "explicit" else bool(minimal)
    if not is_needed or (style == "minimal" and "transfer_to_npu" in source.text):
        return
    after = anchor.after
    begin = source.offset(anchor.first, 0)
    if device is not None and style == "explicit":
        uses_torch = any(re.search(r"\btorch\.", draft.text) for draft in planned.drafts())
        brings = ["import torch"] if uses_torch and not anchor.torch else []
        lines = [*brings, prelude.import_line(device.module, called, needs)]
        planned.prelude_needs = (device.hunk,) if device.hunk else ()
    else:
        brings_torch = not anchor.torch
        explicit = prelude.explicit_lines(called, needs, brings_torch=brings_torch)
        lines = minimal if style == "minimal" else explicit
    if after:
        begin += len(source.line(anchor.first).rstrip("\r\n"))
    text = "".join(source.newline + line if after else line + source.newline for line in lines)
    planned.prelude = (anchor_finding, Draft(begin=begin, end=begin, text=text))
