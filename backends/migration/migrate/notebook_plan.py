"""The plan for a notebook: edits of the Python and the commands in its cells, as edits of its JSON."""

from __future__ import annotations

import ast
import json
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from backends.migration.migrate import file_plan, text_edits
from backends.migration.migrate.draft import Draft
from backends.migration.migrate.file_plan import FilePlan
from backends.migration.migrate.source_text import SourceText
from backends.migration.scan.files.bracket_parser import JSON_TOKEN, BracketParser
from backends.migration.scan.files.notebook import UnreadableNotebook, parse_cells
from backends.migration.scan.files.notebook_cells import blank_ipython

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.migration.finding import ScanFinding
    from backends.migration.migrate.changes import Style
    from backends.migration.scan.files.notebook_cells import NotebookCell

NOT_MAPPED = "migration.migrate.not_mapped"
_UNIT = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class CellText:
    """The text of a code cell. `positions`: the offset in the file of each character; `strings`: the offset where the
    JSON string holding that character ends; `separator`: what stands between two lines of the cell that are strings of
    their own, "" where one string has all lines."""

    cell: NotebookCell
    positions: tuple[int, ...]
    strings: tuple[int, ...]
    separator: str = ""


def is_notebook(text: str) -> bool:
    """Tell whether a text can be read as a notebook."""
    try:
        parse_cells(text)
    except UnreadableNotebook:
        return False
    return True


def plan_notebook(source: SourceText, findings: Sequence[ScanFinding], style: Style, *, has_transfer: bool) -> FilePlan:
    """Plan the edits of a notebook; offsets and lines of the plan are those of its JSON."""
    places = [finding for finding in findings if finding.is_counted]
    written = _read_cells(source.text)
    if written is None:
        return FilePlan(
            manual_findings=[_at_json_lines(source, finding, None) for finding in places], reason=NOT_MAPPED
        )
    python = [cell_text for cell_text in written if not cell_text.cell.text.lstrip().startswith("%%")]
    joined = _JoinedCells([cell_text for cell_text in python if _parses(blank_ipython(cell_text.cell).text)])
    inside = [finding for finding in findings if finding.cell in joined.starts and joined.is_python(finding)]
    moved = [joined.to_module(finding) for finding in inside]
    plan = file_plan.plan_python(joined.source(source.path), moved, style, has_transfer=has_transfer)
    outside = [finding for finding in places if finding not in inside]
    return _in_json(source, joined, plan, {cell_text.cell.index: cell_text for cell_text in written}, outside, style)


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


class _JoinedCells:
    """All cells that parse, joined into one module as the scan reads them."""

    def __init__(self, cell_texts: Sequence[CellText]) -> None:
        self.cell_texts = cell_texts
        self.texts = [blank_ipython(cell_text.cell).text for cell_text in cell_texts]
        self.starts: dict[int | None, int] = {}
        self.offsets: list[int] = []
        line, offset = 1, 0
        for cell_text, text in zip(cell_texts, self.texts, strict=True):
            self.starts[cell_text.cell.index] = line
            self.offsets.append(offset)
            line, offset = line + text.count("\n") + 1, offset + len(text) + 1

    def source(self, path: str) -> SourceText:
        return SourceText(path=path, text="\n".join(self.texts))

    def is_python(self, finding: ScanFinding) -> bool:
        """Tell whether a finding is in Python code, not in a command, which is blank in the joined module."""
        index = next(index for index, text in enumerate(self.cell_texts) if text.cell.index == finding.cell)
        module_lines, cell_lines = self.texts[index].split("\n"), self.cell_texts[index].cell.text.split("\n")
        return module_lines[finding.line - 1 : finding.line] == cell_lines[finding.line - 1 : finding.line]

    def to_module(self, finding: ScanFinding) -> ScanFinding:
        """Move a finding from the lines of its cell to those of the joined module."""
        shift = self.starts[finding.cell] - 1
        return msgspec.structs.replace(finding, line=finding.line + shift, end=finding.end + shift)

    def to_cell(self, finding: ScanFinding) -> ScanFinding:
        """Move a finding from the lines of the joined module to those of its cell."""
        shift = self.starts[finding.cell] - 1
        return msgspec.structs.replace(finding, line=finding.line - shift, end=finding.end - shift)

    def to_json(self, draft: Draft) -> Draft | None:
        """Translate a draft to offsets of the JSON; None where it spans two strings."""
        index = bisect_right(self.offsets, draft.begin) - 1
        return json_draft(self.cell_texts[index], draft, self.offsets[index])


def json_draft(cell_text: CellText, draft: Draft, shift: int) -> Draft | None:
    """Translate a draft to offsets of the JSON; None where it spans two strings. `shift`: where the cell begins in the
    text that the draft is for."""
    begin, end = draft.begin - shift, draft.end - shift
    touched = cell_text.strings[begin : max(end, begin + 1)] or cell_text.strings[-1:]
    if len(set(touched)) != 1:
        return None
    positions = [*cell_text.positions, cell_text.strings[-1]]
    first = positions[begin]
    last = first if begin == end else positions[end] if cell_text.strings[end : end + 1] == touched[:1] else touched[0]
    text = _strings_of_lines(draft.text, cell_text.separator)
    return Draft(begin=first, end=last, text=text, needs=draft.needs, group=draft.group, offered=draft.offered)


def _strings_of_lines(text: str, separator: str) -> str:
    """Return a text inside a JSON string; each line break ends its string where the notebook has one line a string."""
    lines = text.splitlines(keepends=True) if separator else [text]
    broken = text.endswith("\n") and bool(separator)
    return separator.join(json.dumps(line)[1:-1] for line in [*lines, *([""] if broken else [])])


def _in_json(
    source: SourceText,
    joined: _JoinedCells,
    module_plan: FilePlan,
    by_cell: dict[int, CellText],
    outside: list[ScanFinding],
    style: Style,
) -> FilePlan:
    """Translate the plan of the joined module to the JSON, and edit as plain text the commands and cells that could
    not be joined."""
    result = FilePlan(reason=module_plan.reason)
    for finding, drafts in module_plan.edits:
        _add(source, result, joined.to_cell(finding), [joined.to_json(draft) for draft in drafts], by_cell)
    result.manual_findings += [
        _at_json_lines(source, joined.to_cell(finding), by_cell) for finding in module_plan.manual_findings
    ]
    if module_plan.prelude is not None and (draft := joined.to_json(module_plan.prelude[1])) is not None:
        result.prelude = (_at_json_lines(source, joined.to_cell(module_plan.prelude[0]), by_cell), draft)
    for finding in outside:
        cell_text = by_cell.get(finding.cell if finding.cell is not None else -1)
        if cell_text is None:
            result.manual_findings.append(_at_json_lines(source, finding, by_cell))
            continue
        drafts_of = text_edits.edit_text(SourceText(path=finding.path, text=cell_text.cell.text), finding, style)
        _add(
            source,
            result,
            finding,
            [json_draft(cell_text, draft, 0) for draft in drafts_of or ()] or drafts_of,
            by_cell,
        )
    return result


def _add(
    source: SourceText,
    result: FilePlan,
    finding: ScanFinding,
    drafts: Sequence[Draft | None] | None,
    by_cell: dict[int, CellText],
) -> None:
    json_finding = _at_json_lines(source, finding, by_cell)
    mapped = None if drafts is None or None in drafts else [draft for draft in drafts if draft is not None]
    result.add(source, json_finding, mapped, set(range(json_finding.line, json_finding.end + 1)))


def _at_json_lines(source: SourceText, finding: ScanFinding, by_cell: dict[int, CellText] | None) -> ScanFinding:
    """Return the finding with the JSON lines that hold it; the first line where these are unknown."""
    cell_text = (by_cell or {}).get(finding.cell if finding.cell is not None else -1)
    if cell_text is None or not cell_text.positions:
        return msgspec.structs.replace(finding, line=1, end=1)
    cell = SourceText(path=finding.path, text=cell_text.cell.text)
    last = len(cell_text.positions) - 1
    first = source.line_at(cell_text.positions[min(cell.offset(min(finding.line, len(cell.starts)), 0), last)])
    end = source.line_at(cell_text.positions[min(cell.offset(min(finding.end, len(cell.starts)), 0), last)])
    return msgspec.structs.replace(finding, line=first, end=end)


def _read_cells(text: str) -> list[CellText] | None:
    """Return the code cells with their positions; None where the strings of the file are not as expected."""
    strings = _strings(text)
    result = []
    for cell in parse_cells(text):
        positions, ends, decoded = [], [], ""
        for begin, end in strings.get(cell.index, ()):
            for unit in _UNIT.finditer(text, begin, end):
                char = json.loads(f'"{unit[0]}"') if unit[0].startswith("\\") else unit[0]
                decoded += char
                positions += [unit.start()] * len(char)
                ends += [end] * len(char)
        if decoded.encode("utf-16", "surrogatepass").decode("utf-16", "replace") != cell.text:
            return None
        if len(decoded) == len(cell.text) and positions:
            separator = _separator(text, positions[0])
            result.append(CellText(cell=cell, positions=tuple(positions), strings=tuple(ends), separator=separator))
    return result


def _separator(text: str, begin: int) -> str:
    """Return what ends a string and begins the next on a line of its own, where the first stands on one; `begin`: the
    offset of its first character."""
    line = text.rfind("\n", 0, begin) + 1
    indent = text[line : begin - 1]
    return f'",\n{indent}"' if line and not indent.strip() else ""


def _strings(text: str) -> dict[int, list[tuple[int, int]]]:
    """Return the spans inside the quotes of each source string, by the index of the cell."""
    spans: dict[int, list[tuple[int, int]]] = {}
    index = -1
    for value in BracketParser(text=text, at=text.index("{"), keys=(), token=JSON_TOKEN).parse():
        if value.keys == ("cells", "cell_type"):
            index += 1
        elif value.keys == ("cells", "source"):
            spans.setdefault(index, []).append((value.begin, value.end))
    return spans
