"""Cells of a notebook."""

from __future__ import annotations

import re
from dataclasses import dataclass

CELL_MAGIC = re.compile(r"\A\s*%%[^\n]*")
TIMED = re.compile(r"^([ \t]*)(%(?:time|timeit|prun|memit)(?:[ \t]+-\w+(?:[ \t]*\d+)?)*[ \t]+)(?=\S)", re.MULTILINE)
ASSIGNED = re.compile(r"^([ \t]*[\w.,\[\]'\" \t]+?=[ \t]*)((?:!|%[A-Za-z%])(?:[^\\\n]|\\(?:\n|.)?)*)", re.MULTILINE)
COMMAND = re.compile(r"^([ \t]*)((?:!|%[A-Za-z%])(?:[^\\\n]|\\(?:\n|.)?)*)", re.MULTILINE)
ASKED = re.compile(r"^([ \t]*)(\?{1,2}[\w.]+|[\w.]+\?{1,2})[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Cell:
    index: int
    text: str


def plain_python(cell: Cell) -> Cell:
    """The cell without what only IPython understands; every line and column of the rest is kept."""
    text = CELL_MAGIC.sub(_blank, cell.text.replace("\r\n", "\n").replace("\r", "\n"))
    if "%" in text:
        text = TIMED.sub(lambda found: found[1] + "0;" + " " * (len(found[2]) - 2), text)
    if "!" in text or "%" in text:
        text = COMMAND.sub(_nothing, ASSIGNED.sub(_nothing, text))
    if "?" in text:
        text = ASKED.sub(_nothing, text)
    return Cell(index=cell.index, text=text)


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def _nothing(found: re.Match[str]) -> str:
    """A zero in place of a command, so that a block around it stays whole."""
    return found[1] + "0" + re.sub(r"[^\n]", " ", found[2])[1:]
