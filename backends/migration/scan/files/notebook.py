"""Notebooks: Python of all cells as one module, shell of `!` lines and of %%bash cells."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from backends.migration.found import Place
from backends.migration.scan.files import config, embedded, names, requirement, shell
from backends.migration.scan.files.cells import Cell, plain_python
from backends.migration.scan.files.source import Source
from backends.migration.scan.python.module import Exports, Module

SHELL_CELL = re.compile(r"\s*%%(?:bash|sh|!|system|script\s+\S*(?:ba|z|k)?sh)\b|\s*%%!")
WRITTEN = re.compile(r"\s*%%(?:writefile|file)\s+(?:-a\s+)?(\S+)")
PYTHON_CELL = re.compile(r"\s*%%(?:time|timeit|capture|prun|memit|python3?|px|snakeviz|heat|ipytest|debug)\b")
COMMAND = re.compile(r"^[ \t]*(?:[\w.,\[\]'\" \t]+?=[ \t]*)?(!!?|%)(.*)$", re.MULTILINE)
SET = re.compile(r"(?:env|set_env)[ \t]+")
RUN = re.compile(r"(?:pip|conda|mamba|uv|run|sx|system)[ \t]")


class Unreadable(Exception):
    """`reason`: "not_json" or "no_cells"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


Read = Callable[[Module], Iterator[Place]]


def cells(text: str) -> tuple[Cell, ...]:
    """The code cells; `index` counts all cells from 0, those of text too. Raises Unreadable."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable("not_json") from error
    sheets = content.get("worksheets") if isinstance(content, dict) else None
    if isinstance(sheets, list) and sheets and isinstance(sheets[0], dict):
        content = sheets[0]
    listed = content.get("cells") if isinstance(content, dict) else None
    if not isinstance(listed, list):
        raise Unreadable("no_cells")
    return tuple(
        Cell(index=index, text=_source(cell))
        for index, cell in enumerate(listed)
        if isinstance(cell, dict) and cell.get("cell_type") == "code"
    )


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        return "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""


def places(path: str, text: str, exports: Exports | None = None, read: Read = embedded.places_of) -> Iterator[Place]:
    """Lines count from 1 inside the cell that `cell` names, the index among all cells from 0.

    `read` is what is done with the module that the Python of all cells makes: an import in one cell is known in the
    next. Raises Unreadable.
    """
    python = []
    for cell in cells(text):
        if cell.text.lstrip().startswith("%%") and not PYTHON_CELL.match(cell.text):
            for place in _magic(path, cell):
                yield msgspec.structs.replace(place, cell=cell.index)
        else:
            yield from (msgspec.structs.replace(place, cell=cell.index) for place in _commands(path, cell))
            python.append(plain_python(cell))
    yield from embedded.cells(path, python, exports or Exports(), read)


def _magic(path: str, cell: Cell) -> Iterator[Place]:
    """A cell that is a shell script, or a file that is written."""
    source = Source(path, cell.text)
    begin = source.line_end(len(cell.text) - len(cell.text.lstrip()))
    written = WRITTEN.match(cell.text)
    if SHELL_CELL.match(cell.text):
        yield from shell.read(source, begin, len(cell.text))
    elif written and written[1].endswith(".py"):
        yield from embedded.python(source, begin, len(cell.text))
    elif written and written[1].endswith((".sh", ".bash")):
        yield from shell.read(source, begin, len(cell.text))
    elif written and written[1].endswith(tuple(config.READERS)):
        yield from config.read(source, written[1], begin)


def _commands(path: str, cell: Cell) -> Iterator[Place]:
    source = Source(path, cell.text)
    for found in COMMAND.finditer(cell.text):
        begin, end = found.start(2), _whole(cell.text, found.end())
        if found[1] != "%" or RUN.match(found[2]):
            yield from shell.read(source, begin, end)
        elif set_to := SET.match(found[2]):
            yield from _variable(source, begin + set_to.end(), end)


def _whole(text: str, end: int) -> int:
    """Where a command ends that goes on behind a backslash."""
    while text[max(end - 2, 0) : end].rstrip("\r").endswith("\\") and end < len(text):
        found = text.find("\n", end + 1)
        end = found if found >= 0 else len(text)
    return end


def _variable(source: Source, begin: int, end: int) -> Iterator[Place]:
    """`%env NAME=value` or `%env NAME value`."""
    name, _, value = re.sub(r"[ \t]", "=", source.text[begin:end], count=1).partition("=")
    if names.ENVIRONMENT.match(name):
        args = {"value": value}
        yield source.place(begin, begin + len(name), "cuda_env", name=name, context="env", args=args)
    yield from requirement.index_places(source, begin, end)
