"""Python inside other files."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import msgspec

from backends.migration.scan.files.scanned_text import LINE_END, ScannedText
from backends.migration.scan.python.module import ProjectExports, try_parse_module
from backends.migration.scan.python.scoped_tree import UnparsableSource, parse_tree
from backends.migration.scan.python.token_scanner import scan_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.migration.finding import Occurrence
    from backends.migration.scan.files.notebook_cells import NotebookCell
    from backends.migration.scan.python.embedded_commands import ModuleScanner


def scan_embedded_python(source: ScannedText, begin: int, end: int, scan_module: ModuleScanner) -> Iterator[Occurrence]:
    """Scan the Python in text[begin:end]; occurrences have the lines and columns of the whole file.

    The margin that all its lines have (a script inside YAML) is taken off first.
    """
    lines = LINE_END.split(source.text[begin:end])
    first, column = source.position(begin)
    margin = _margin(lines[1:] if column else lines)
    stripped = [line[margin:] if at or not column else line for at, line in enumerate(lines)]
    text = "\n".join(line if line.strip() else "" for line in stripped)
    for occurrence in _scan_text(source.path, text, ProjectExports(), scan_module):
        yield _shift_occurrence(occurrence, first, column, margin)


def _margin(lines: Sequence[str]) -> int:
    return min((len(line) - len(line.lstrip(" \t")) for line in lines if line.strip()), default=0)


def _shift_occurrence(occurrence: Occurrence, first: int, column: int, margin: int) -> Occurrence:
    """Move an occurrence so that its line 1 becomes `first`, beginning at `column`; other lines gain the margin."""

    def column_shift(line: int) -> int:
        return column if line == 1 and column else margin

    return msgspec.structs.replace(
        occurrence,
        line=occurrence.line + first - 1,
        end=occurrence.end + first - 1,
        column=occurrence.column + column_shift(occurrence.line),
        end_column=occurrence.end_column + column_shift(occurrence.end),
    )


def _scan_text(path: str, text: str, exports: ProjectExports, scan_module: ModuleScanner) -> Iterator[Occurrence]:
    module = try_parse_module(path, text, exports)
    yield from scan_module(module) if module else scan_tokens(path, text)


def scan_cells(
    path: str,
    parts: Sequence[NotebookCell],
    exports: ProjectExports,
    scan_module: ModuleScanner,
) -> Iterator[Occurrence]:
    """Places of the Python of a notebook: cells that parse are one module, the others are read by themselves.

    A place that reaches over the line before it, as that of the prelude does, belongs to the cell where it ends.
    """
    parsable = [part for part in parts if _parses(part.text)]
    starts: list[int] = []
    line = 1
    for part in parsable:
        starts.append(line)
        line += part.text.count("\n") + 1
    for occurrence in _scan_text(path, "\n".join(part.text for part in parsable), exports, scan_module):
        index = bisect_right(starts, occurrence.end) - 1
        shift = starts[index] - 1
        first = max(1, occurrence.line - shift)
        yield msgspec.structs.replace(occurrence, cell=parsable[index].index, line=first, end=occurrence.end - shift)
    for part in parts:
        if part not in parsable:
            for occurrence in _scan_text(path, part.text, exports, scan_module):
                yield msgspec.structs.replace(occurrence, cell=part.index)


def _parses(text: str) -> bool:
    try:
        parse_tree(text)
    except UnparsableSource:
        return False
    return True
