"""Cells of a notebook."""

from __future__ import annotations

import re
from dataclasses import dataclass

CELL_MAGIC = re.compile(r"\A\s*%%[^\n]*")
TIMING = re.compile(r"^([ \t]*)(%(?:time|timeit|prun|memit)(?:[ \t]+-\w+(?:[ \t]*\d+)?)*[ \t]+)(?=\S)", re.MULTILINE)
ASSIGNED = re.compile(r"^([ \t]*[\w.,\[\]'\" \t]+?=[ \t]*)((?:!|%[A-Za-z%])(?:[^\\\n]|\\(?:\n|.)?)*)", re.MULTILINE)
COMMAND = re.compile(r"^([ \t]*)((?:!|%[A-Za-z%])(?:[^\\\n]|\\(?:\n|.)?)*)", re.MULTILINE)
HELP = re.compile(r"^([ \t]*)(\?{1,2}[\w.]+|[\w.]+\?{1,2})[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class NotebookCell:
    index: int
    text: str


def blank_ipython(cell: NotebookCell) -> NotebookCell:
    """The cell without what only IPython understands; every line and column of the rest is kept."""
    text = CELL_MAGIC.sub(_blank, cell.text.replace("\r\n", "\n").replace("\r", "\n"))
    if "%" in text:
        text = TIMING.sub(lambda match: match[1] + "0;" + " " * (len(match[2]) - 2), text)
    if "!" in text or "%" in text:
        text = COMMAND.sub(_blank_command, ASSIGNED.sub(_blank_command, text))
    if "?" in text:
        text = HELP.sub(_blank_command, text)
    return NotebookCell(index=cell.index, text=text)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _blank_command(match: re.Match[str]) -> str:
    """A zero in place of a command, so that a block around it stays whole."""
    return match[1] + "0" + re.sub(r"[^\n]", " ", match[2])[1:]
