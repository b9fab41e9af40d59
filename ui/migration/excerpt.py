"""The lines around a finding, read off the UI thread; in a notebook, the lines of its cell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from backends.migration.scan.text_files import UnreadableFile, decode_source, read_regular_file

if TYPE_CHECKING:
    from pathlib import Path

LINES_BEFORE, LINES_AFTER = 400, 800
MAX_BYTES = 20_000_000
MAX_LINE_LENGTH = 2_000
# Qt begins a new line at these characters; Python and the scan do not.
SEPARATORS = str.maketrans({"\u2028": " ", "\u2029": " "})


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """`first`: the number of the first line, from 1; `total`: the number of lines of the file or cell; `problem`: the
    key of a sentence that says why there is nothing to show, with its arguments."""

    path: str
    cell: int | None = None
    first: int = 1
    lines: tuple[str, ...] = ()
    total: int = 0
    problem: str = ""
    args: dict[str, Any] = field(default_factory=dict)

    def contains(self, path: str, cell: int | None, line: int) -> bool:
        """Tell whether a line can be shown without reading again."""
        inside = self.first <= line < self.first + len(self.lines)
        return not self.problem and self.path == path and self.cell == cell and inside


def read_excerpt(folder: Path, path: str, cell: int | None, line: int) -> Excerpt:
    """Read the lines around one; overlong lines are cut. Never raises."""
    try:
        text = decode_source(read_regular_file(folder / path, MAX_BYTES)).text
    except UnreadableFile as unread:
        return Excerpt(path=path, cell=cell, problem=unread.key, args=unread.text_args)
    if cell is not None:
        text = _cell_text(text, cell)
    lines = _split(text)
    first = max(0, line - 1 - LINES_BEFORE)
    displayed = tuple(map(_displayable, lines[first : line + LINES_AFTER]))
    return Excerpt(path=path, cell=cell, first=first + 1, lines=displayed, total=len(lines))


def read_lines(folder: Path, path: str) -> tuple[str, ...]:
    """Read all lines of a file, none where it cannot be read. Never raises."""
    try:
        return tuple(map(_displayable, _split(decode_source(read_regular_file(folder / path, MAX_BYTES)).text)))
    except UnreadableFile:
        return ()


def _split(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")


def _displayable(line: str) -> str:
    return line[:MAX_LINE_LENGTH].translate(SEPARATORS)


def _cell_text(text: str, cell: int) -> str:
    try:
        source = msgspec.json.decode(text)["cells"][cell]["source"]
    except (msgspec.MsgspecError, KeyError, IndexError, TypeError):
        return ""
    return "".join(map(str, source)) if isinstance(source, list) else str(source)
