"""The lines around a place, read off the UI thread; of a notebook, the lines of its cell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from backends.migration.scan.read import Unread, decode, read_bytes

if TYPE_CHECKING:
    from pathlib import Path

BEFORE, AFTER = 400, 800
LARGEST = 20_000_000
LONGEST = 2_000
# Qt begins a new line at these, Python and the scan do not.
SEPARATORS = str.maketrans({"\u2028": " ", "\u2029": " "})


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """`first`: the number of the first line, from 1; `total`: how many lines there are in all. `problem`: the key of
    the sentence that says why there is nothing to show, with its arguments."""

    path: str
    cell: int | None = None
    first: int = 1
    lines: tuple[str, ...] = ()
    total: int = 0
    problem: str = ""
    args: dict[str, Any] = field(default_factory=dict)

    def holds(self, path: str, cell: int | None, line: int) -> bool:
        """Whether a place can be shown without reading again."""
        inside = self.first <= line < self.first + len(self.lines)
        return not self.problem and self.path == path and self.cell == cell and inside


def read_excerpt(folder: Path, path: str, cell: int | None, line: int) -> Excerpt:
    """Never raises. Lines longer than a page is wide many times over are cut."""
    try:
        text = decode(read_bytes(folder / path, LARGEST)).text
    except Unread as unread:
        return Excerpt(path=path, cell=cell, problem=unread.key, args=unread.values)
    if cell is not None:
        text = _cell_text(text, cell)
    lines = _split(text)
    first = max(0, line - 1 - BEFORE)
    shown = tuple(map(_shown, lines[first : line + AFTER]))
    return Excerpt(path=path, cell=cell, first=first + 1, lines=shown, total=len(lines))


def read_lines(folder: Path, path: str) -> tuple[str, ...]:
    """All lines of a file, none where it cannot be read. Never raises."""
    try:
        return tuple(map(_shown, _split(decode(read_bytes(folder / path, LARGEST)).text)))
    except Unread:
        return ()


def _split(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")


def _shown(line: str) -> str:
    return line[:LONGEST].translate(SEPARATORS)


def _cell_text(text: str, cell: int) -> str:
    try:
        source = msgspec.json.decode(text)["cells"][cell]["source"]
    except (msgspec.MsgspecError, KeyError, IndexError, TypeError):
        return ""
    return "".join(map(str, source)) if isinstance(source, list) else str(source)
