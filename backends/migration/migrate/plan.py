"""From findings to changes. Reads the files that have findings, writes nothing."""

from __future__ import annotations

import ast
import hashlib
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from backends.migration.migrate import device_module, file_plan, hunks, notebook_plan, prelude
from backends.migration.migrate.changes import Changes, FileChanges, Hunk
from backends.migration.migrate.file_plan import FilePlan
from backends.migration.migrate.hunks import render_hunks
from backends.migration.migrate.import_reach import ImportReach, split_by_transfer
from backends.migration.migrate.source_text import SourceText
from backends.migration.scan.text_files import UnreadableFile, decode_source, read_regular_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from backends.migration.finding import ScanFinding
    from backends.migration.migrate.changes import Style
    from backends.migration.migrate.device_module import DeviceImport
    from backends.migration.migrate.draft import PreludeName

MAX_FILE_BYTES = 1 << 25
NOT_PARSED = "migration.migrate.not_parsed"
NOT_WRITTEN_BACK = "migration.migrate.not_written_back"
NPU_AWARE_RULES = ("advice.native_trainer", "advice.npu_aware")
_PYTHON = (".py", ".pyw")


def plan_changes(folder: Path, findings: Iterable[ScanFinding], style: Style) -> Changes:
    """Plan the edits for the findings of a project. A file that is gone or can no longer be read is left out."""
    by_path: dict[str, list[ScanFinding]] = defaultdict(list)
    for finding in findings:
        by_path[finding.path].append(finding)
    transfer, direct = _split_files(folder, by_path) if style == "minimal" else (set(), set())
    broadcasting = _broadcasting_files(folder, transfer)
    planned = {
        path: file
        for path, findings_of_file in sorted(by_path.items())
        if (
            file := _plan_file(
                folder,
                path,
                findings_of_file,
                "explicit" if path in direct else style,
                has_transfer=path in transfer,
                has_broadcast=path in broadcasting,
            )
        )
    }
    files = [file.changes for file in planned.values()]
    if style == "explicit":
        files = _with_device_module(folder, by_path, planned)
    edited = [file for file in files if file.hunks]
    groups = hunks.join_groups([hunk.group for file in edited for hunk in file.hunks if hunk.group])
    return Changes(folder=str(folder), style=style, files=tuple(_regrouped(file, groups) for file in edited))


def _with_device_module(
    folder: Path, by_path: dict[str, list[ScanFinding]], planned: dict[str, PlannedFile]
) -> list[FileChanges]:
    """Let the files that can do so import their names from a module, and add that module."""
    names = {path: file.names for path, file in planned.items() if file.names and path.lower().endswith(".py")}
    scripts = {
        path
        for path in names
        for finding in by_path[path]
        if finding.rule == prelude.PRELUDE_RULE and finding.args.get("entry")
    }
    imports, written = device_module.choose_imports(folder, names, scripts)
    for path, device in imports.items():
        file = _plan_file(folder, path, by_path[path], "explicit", has_transfer=False, device=device)
        if file is not None:
            planned[path] = file
    return sorted([*(file.changes for file in planned.values()), *written], key=lambda file: file.path)


def _regrouped(file: FileChanges, groups: dict[str, str]) -> FileChanges:
    hunks_regrouped = tuple(msgspec.structs.replace(hunk, group=groups.get(hunk.group, "")) for hunk in file.hunks)
    return msgspec.structs.replace(file, hunks=hunks_regrouped)


def _split_files(folder: Path, by_path: dict[str, list[ScanFinding]]) -> tuple[set[str], set[str]]:
    """Return the files that get the lines of transfer_to_npu, and those that are edited without it."""
    anchored = {
        path: finding
        for path, findings in by_path.items()
        for finding in findings
        if finding.rule == prelude.PRELUDE_RULE and finding.cell is None
    }
    places = {path for path in anchored if any(prelude.may_need(finding) for finding in by_path[path])}
    native = {
        path for path, findings in by_path.items() if any(finding.rule in NPU_AWARE_RULES for finding in findings)
    }
    entries = [path for path, anchor in anchored.items() if anchor.args.get("entry")]
    notebooks = {path for path in by_path if path.lower().endswith(".ipynb")}
    modules = {path for path in native if path not in notebooks}
    transfer, direct = split_by_transfer(folder, entries, places, modules)
    return transfer | (notebooks - native), direct | (notebooks & native)


def _broadcasting_files(folder: Path, paths: Iterable[str]) -> set[str]:
    """Return those of these files that call a broadcast of torch.distributed, or import a file that does."""
    reach = ImportReach(folder)
    reached = {path: reach.reached_files(path) for path in paths}
    return {path for path in reached if any(prelude.broadcasts(_read_text(folder / file)) for file in reached[path])}


def _read_text(path: Path) -> str:
    try:
        return decode_source(read_regular_file(path, MAX_FILE_BYTES)).text
    except UnreadableFile:
        return ""


class PlannedFile(NamedTuple):
    """`names`: those that its edits take from the prelude."""

    changes: FileChanges
    names: frozenset[PreludeName]


def _plan_file(
    folder: Path,
    path: str,
    findings: list[ScanFinding],
    style: Style,
    *,
    has_transfer: bool,
    has_broadcast: bool = False,
    device: DeviceImport | None = None,
) -> PlannedFile | None:
    try:
        data = read_regular_file(folder / path, MAX_FILE_BYTES)
    except UnreadableFile:
        return None
    text = decode_source(data)
    source = SourceText(path=path, text=text.text)
    if _encode(text.text, text.encoding) == data:
        plan = _plan_source(
            source, findings, style, has_transfer=has_transfer, has_broadcast=has_broadcast, device=device
        )
    else:
        plan = FilePlan(
            manual_findings=[finding for finding in findings if finding.is_counted], reason=NOT_WRITTEN_BACK
        )
    file_hunks = make_hunks(source, plan)
    if plan.edits and not _still_parses(source, file_hunks):
        plan.withdraw(_breaking_findings(source, plan))
        file_hunks = make_hunks(source, plan)
    if plan.edits and not _still_parses(source, file_hunks):
        plan = FilePlan(manual_findings=[finding for finding in findings if finding.is_counted], reason=NOT_PARSED)
        file_hunks = make_hunks(source, plan)
    digest = hashlib.sha256(data).hexdigest()
    changes = FileChanges(
        path=path, encoding=text.encoding, digest=digest, hunks=tuple(file_hunks), withdrawn=plan.reason
    )
    return PlannedFile(changes, plan.names() if plan.prelude is not None else frozenset())


def _still_parses(source: SourceText, file_hunks: Iterable[Hunk]) -> bool:
    return parses(source.path, render_hunks(source, editable_hunks(file_hunks)))


def _breaking_findings(source: SourceText, plan: FilePlan) -> list[ScanFinding]:
    """Return the findings with whose edits alone the file would not parse, and those that share a group with them."""
    breaking = [
        (finding, drafts)
        for finding, drafts in plan.edits
        if not parses(source.path, hunks.apply_drafts(source.text, 0, drafts)[0])
    ]
    groups = {draft.group for _, drafts in breaking for draft in drafts if draft.group}
    grouped = [finding for finding, drafts in plan.edits if groups.intersection(draft.group for draft in drafts)]
    return [finding for finding, _ in breaking] + grouped


def _encode(text: str, encoding: str) -> bytes:
    """Encode a text; return b"" where the encoding cannot represent it."""
    try:
        return text.encode(encoding)
    except (UnicodeError, LookupError):
        return b""


def _plan_source(
    source: SourceText,
    findings: list[ScanFinding],
    style: Style,
    *,
    has_transfer: bool,
    has_broadcast: bool,
    device: DeviceImport | None,
) -> FilePlan:
    if source.path.lower().endswith(".ipynb"):
        return notebook_plan.plan_notebook(source, findings, style, has_transfer=has_transfer)
    if source.path.lower().endswith(_PYTHON) or any(finding.rule == prelude.PRELUDE_RULE for finding in findings):
        return file_plan.plan_python(
            source, findings, style, has_transfer=has_transfer, has_broadcast=has_broadcast, device=device
        )
    return file_plan.plan_text(source, findings, style)


def editable_hunks(all_hunks: Iterable[Hunk]) -> list[Hunk]:
    """Return the hunks that have an edit."""
    return [hunk for hunk in all_hunks if hunk.state != "yours"]


def parses(path: str, text: str) -> bool:
    """Tell whether an edited Python file or notebook still parses; any other file does."""
    if path.lower().endswith(".ipynb"):
        return notebook_plan.is_notebook(text)
    if not path.lower().endswith(_PYTHON):
        return True
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def make_hunks(source: SourceText, plan: FilePlan) -> list[Hunk]:
    """Make the hunks of a plan, by line; those with an edit come before those left to a person."""
    # The prelude stands before an edit that begins at its offset.
    rows = [(plan.prelude[0], [plan.prelude[1]])] if plan.prelude is not None else []
    rows += plan.edits
    hunk_drafts = hunks.draft_hunks(source, rows)
    prelude_draft = plan.prelude[1] if plan.prelude is not None else None
    first = next((hunk_draft for hunk_draft in hunk_drafts if prelude_draft in hunk_draft.drafts), None)
    head = hunks.make_hunk(source, first, plan.prelude_needs) if first else None
    result = [head] if head else []
    for hunk_draft in hunk_drafts:
        if hunk_draft is not first:
            needs_head = head is not None and any(draft.needs for draft in hunk_draft.drafts)
            result.append(hunks.make_hunk(source, hunk_draft, (head.id,) if head and needs_head else ()))
    by_lines: dict[tuple[int, int], list[ScanFinding]] = defaultdict(list)
    for finding in plan.manual_findings:
        by_lines[finding.line, min(finding.end, len(source.starts))].append(finding)
    result += [hunks.make_manual_hunk(source, begin, end, findings) for (begin, end), findings in by_lines.items()]
    return sorted(result, key=lambda hunk: (hunk.first, hunk.last, hunk.state == "yours"))
