"""Notebooks: edits of the Python and the commands in their cells, as edits of the JSON they are kept in."""

from __future__ import annotations

import ast
import json
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from backends.migration.migrate import planned as plans
from backends.migration.migrate import text_edits
from backends.migration.migrate.draft import Draft
from backends.migration.migrate.planned import Planned
from backends.migration.migrate.source import Source
from backends.migration.scan.files.cells import plain_python
from backends.migration.scan.files.flow import JSON_TOKEN, Reader
from backends.migration.scan.files.notebook import Unreadable, cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.migration.found import Found
    from backends.migration.migrate.changes import Style
    from backends.migration.migrate.reach import Lines
    from backends.migration.scan.files.cells import Cell

NOT_MAPPED = "migration.migrate.not_mapped"
_UNIT = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Written:
    """The text of a code cell, where each of its characters stands in the file, and where the JSON string ends that
    holds it."""

    cell: Cell
    places: tuple[int, ...]
    strings: tuple[int, ...]


def is_notebook(text: str) -> bool:
    try:
        cells(text)
    except Unreadable:
        return False
    return True


def planned(source: Source, found: Sequence[Found], style: Style, lines: Lines) -> Planned:
    """Places of the result are those of the JSON."""
    places = [one for one in found if one.kind == "place"]
    written = _written(source.text)
    if written is None:
        return Planned(left=[_at(source, one, None) for one in places], reason=NOT_MAPPED)
    python = [one for one in written if not one.cell.text.lstrip().startswith("%%")]
    joined = _Joined([one for one in python if _parses(plain_python(one.cell).text)])
    inside = [one for one in found if one.cell in joined.starts and joined.is_python(one)]
    moved = [joined.moved(one) for one in inside]
    made = plans.of_python(joined.source(source.path), moved, style, lines)
    outside = [one for one in places if one not in inside]
    return _in_json(source, joined, made, {one.cell.index: one for one in written}, outside, style)


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


class _Joined:
    """All cells that parse, as one module, as the scan reads them."""

    def __init__(self, parts: Sequence[Written]) -> None:
        self.parts = parts
        self.texts = [plain_python(one.cell).text for one in parts]
        self.starts: dict[int | None, int] = {}
        self.offsets: list[int] = []
        line, offset = 1, 0
        for part, text in zip(parts, self.texts, strict=True):
            self.starts[part.cell.index] = line
            self.offsets.append(offset)
            line, offset = line + text.count("\n") + 1, offset + len(text) + 1

    def source(self, path: str) -> Source:
        return Source(path=path, text="\n".join(self.texts))

    def is_python(self, found: Found) -> bool:
        """Not in a command, which is blank in the module."""
        index = next(at for at, part in enumerate(self.parts) if part.cell.index == found.cell)
        plain, cell = self.texts[index].split("\n"), self.parts[index].cell.text.split("\n")
        return plain[found.line - 1 : found.line] == cell[found.line - 1 : found.line]

    def moved(self, found: Found) -> Found:
        shift = self.starts[found.cell] - 1
        return msgspec.structs.replace(found, line=found.line + shift, end=found.end + shift)

    def back(self, found: Found) -> Found:
        shift = self.starts[found.cell] - 1
        return msgspec.structs.replace(found, line=found.line - shift, end=found.end - shift)

    def in_json(self, draft: Draft) -> Draft | None:
        """None where it spans two strings of the JSON."""
        at = bisect_right(self.offsets, draft.begin) - 1
        return json_draft(self.parts[at], draft, self.offsets[at])


def json_draft(part: Written, draft: Draft, shift: int) -> Draft | None:
    begin, end = draft.begin - shift, draft.end - shift
    touched = part.strings[begin : max(end, begin + 1)] or part.strings[-1:]
    if len(set(touched)) != 1:
        return None
    places = [*part.places, part.strings[-1]]
    first = places[begin]
    last = first if begin == end else places[end] if part.strings[end : end + 1] == touched[:1] else touched[0]
    text = json.dumps(draft.text)[1:-1]
    return Draft(begin=first, end=last, text=text, needs=draft.needs, group=draft.group, offered=draft.offered)


def _in_json(
    source: Source, joined: _Joined, made: Planned, by_cell: dict[int, Written], outside: list[Found], style: Style
) -> Planned:
    """Everything at its place in the JSON; commands and what could not be joined are edited as plain text."""
    result = Planned(reason=made.reason)
    for found, drafts in made.edits:
        _add(source, result, joined.back(found), [joined.in_json(one) for one in drafts], by_cell)
    result.left += [_at(source, joined.back(found), by_cell) for found in made.left]
    if made.prelude is not None and (draft := joined.in_json(made.prelude[1])) is not None:
        result.prelude = (_at(source, joined.back(made.prelude[0]), by_cell), draft)
    for found in outside:
        part = by_cell.get(found.cell if found.cell is not None else -1)
        if part is None:
            result.left.append(_at(source, found, by_cell))
            continue
        drafts_of = text_edits.edits(Source(path=found.path, text=part.cell.text), found, style)
        _add(source, result, found, [json_draft(part, one, 0) for one in drafts_of or ()] or drafts_of, by_cell)
    return result


def _add(
    source: Source, result: Planned, found: Found, drafts: Sequence[Draft | None] | None, by_cell: dict[int, Written]
) -> None:
    at = _at(source, found, by_cell)
    known = None if drafts is None or None in drafts else [one for one in drafts if one is not None]
    result.add(source, at, known, set(range(at.line, at.end + 1)))


def _at(source: Source, found: Found, by_cell: dict[int, Written] | None) -> Found:
    """The finding at the lines of the JSON that hold it; the first line where nobody knows."""
    part = (by_cell or {}).get(found.cell if found.cell is not None else -1)
    if part is None or not part.places:
        return msgspec.structs.replace(found, line=1, end=1)
    cell = Source(path=found.path, text=part.cell.text)
    last = len(part.places) - 1
    first = source.line_at(part.places[min(cell.offset(min(found.line, len(cell.starts)), 0), last)])
    end = source.line_at(part.places[min(cell.offset(min(found.end, len(cell.starts)), 0), last)])
    return msgspec.structs.replace(found, line=first, end=end)


def _written(text: str) -> list[Written] | None:
    """The code cells with their places; None where the strings of the file are not as they are expected."""
    strings = _strings(text)
    found = []
    for cell in cells(text):
        places, ends, decoded = [], [], ""
        for begin, end in strings.get(cell.index, ()):
            for unit in _UNIT.finditer(text, begin, end):
                char = json.loads(f'"{unit[0]}"') if unit[0].startswith("\\") else unit[0]
                decoded += char
                places += [unit.start()] * len(char)
                ends += [end] * len(char)
        if decoded.encode("utf-16", "surrogatepass").decode("utf-16", "replace") != cell.text:
            return None
        if len(decoded) == len(cell.text) and places:
            found.append(Written(cell=cell, places=tuple(places), strings=tuple(ends)))
    return found


def _strings(text: str) -> dict[int, list[tuple[int, int]]]:
    """Inside of the quotes, by the index of the cell."""
    found: dict[int, list[tuple[int, int]]] = {}
    index = -1
    for value in Reader(text=text, at=text.index("{"), keys=(), token=JSON_TOKEN).values():
        if value.keys == ("cells", "cell_type"):
            index += 1
        elif value.keys == ("cells", "source"):
            found.setdefault(index, []).append((value.begin, value.end))
    return found
