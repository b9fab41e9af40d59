"""What the findings of a migrated project mean: of each, whether something is left to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from backends.migration.migrate import prelude
from backends.migration.migrate.import_reach import ImportReach
from backends.migration.migrate.plan import MAX_FILE_BYTES, plan_changes
from backends.migration.scan.project_files import SourceFile, walk_project
from backends.migration.scan.text_files import UnreadableFile, decode_source, read_regular_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from backends.migration.finding import FindingState, ScanFinding
    from backends.migration.migrate.changes import Hunk, Style

Place: TypeAlias = "tuple[str, int | None, int, int, str]"
"""Path, cell, line, column and rule of a finding."""

TRANSFER_SWITCH = re.compile(r"TORCH_TRANSFER_TO_NPU[\"']?\s*[=:,]\s*[\"']?1")


def settle_findings(folder: Path, findings: Sequence[ScanFinding], style: Style) -> list[ScanFinding]:
    """Return the findings of a scan of the result. One for which no edit is left counts as working by itself; one that
    works by transfer_to_npu alone, where nothing loads that, has an edit left or needs a person."""
    waiting = {
        (hunk.path, hunk.cell, rule) for hunk in plan_changes(folder, findings, style).hunks() for rule in hunk.rules
    }
    states = _states_without_transfer(folder, findings)
    return [
        msgspec.structs.replace(finding, state=_settled_state(finding, waiting, states.get(_place(finding), "auto")))
        for finding in findings
    ]


def _settled_state(
    finding: ScanFinding, waiting: set[tuple[str, int | None, str]], without_transfer: FindingState
) -> FindingState:
    if finding.state == "auto":
        return without_transfer
    is_done = finding.state == "edit" and (finding.path, finding.cell, finding.rule) not in waiting
    return "auto" if is_done else finding.state


def _place(finding: ScanFinding) -> Place:
    return finding.path, finding.cell, finding.line, finding.column, finding.rule


def _states_without_transfer(folder: Path, findings: Sequence[ScanFinding]) -> dict[Place, FindingState]:
    """Return, for places that need transfer_to_npu in files that nothing loads it for, what is left to do there."""
    loaded = _files_with_transfer(folder, {finding.path for finding in findings})
    bare = [finding for finding in findings if finding.path not in loaded]
    left: dict[Place, FindingState] = {}
    for hunk in plan_changes(folder, bare, "explicit").hunks():
        for finding in bare:
            if prelude.may_need(finding) and finding.rule in hunk.rules and _is_in(finding, hunk):
                left[_place(finding)] = "manual" if hunk.state == "yours" else "edit"
    return left


def _is_in(finding: ScanFinding, hunk: Hunk) -> bool:
    """Tell whether a finding belongs to a hunk; lines of a notebook's hunk are those of its file."""
    is_near = finding.cell is not None or hunk.first <= finding.line <= hunk.last
    return (finding.path, finding.cell) == (hunk.path, hunk.cell) and is_near


def _files_with_transfer(folder: Path, paths: set[str]) -> set[str]:
    """Return the files that load transfer_to_npu, and those that such a script imports; all where a script of the
    project sets its switch."""
    if any(TRANSFER_SWITCH.search(_read_text(path)) for path in _other_files(folder)):
        return paths
    reach = ImportReach(folder)
    loading = [path for path in paths if "transfer_to_npu" in _read_text(folder / path)]
    return {file for path in loading for file in reach.reached_files(path)}


def _other_files(folder: Path) -> Iterator[Path]:
    """Yield the scripts and configurations of a project."""
    for entry in walk_project(folder):
        if isinstance(entry, SourceFile) and not entry.path.endswith(".py"):
            yield folder / entry.path


def _read_text(path: Path) -> str:
    try:
        return decode_source(read_regular_file(path, MAX_FILE_BYTES)).text
    except UnreadableFile:
        return ""
