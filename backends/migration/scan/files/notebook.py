"""Notebooks: Python of all cells as one module, shell of `!` lines and of %%bash cells."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from backends.migration.finding import Occurrence
from backends.migration.scan.files import config_files, embedded, gpu_names, requirements, shell
from backends.migration.scan.files.notebook_cells import NotebookCell, blank_ipython
from backends.migration.scan.files.scanned_text import ScannedText
from backends.migration.scan.python.module import Module, ProjectExports

SHELL_CELL = re.compile(r"\s*%%(?:bash|sh|!|system|script\s+\S*(?:ba|z|k)?sh)\b|\s*%%!")
WRITEFILE = re.compile(r"\s*%%(?:writefile|file)\s+(?:-a\s+)?(\S+)")
PYTHON_CELL = re.compile(r"\s*%%(?:time|timeit|capture|prun|memit|python3?|px|snakeviz|heat|ipytest|debug)\b")
COMMAND = re.compile(r"^[ \t]*(?:[\w.,\[\]'\" \t]+?=[ \t]*)?(!!?|%)(.*)$", re.MULTILINE)
SET_VARIABLE = re.compile(r"(?:env|set_env)[ \t]+")
RUN_COMMAND = re.compile(r"(?:pip|conda|mamba|uv|run|sx|system)[ \t]")


class UnreadableNotebook(Exception):
    """`reason`: "not_json" or "no_cells"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


ModuleScanner = Callable[[Module], Iterator[Occurrence]]


def parse_cells(text: str) -> tuple[NotebookCell, ...]:
    """The code cells; `index` counts all cells from 0, those of text too. Raises UnreadableNotebook."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableNotebook("not_json") from error
    sheets = content.get("worksheets") if isinstance(content, dict) else None
    if isinstance(sheets, list) and sheets and isinstance(sheets[0], dict):
        content = sheets[0]
    listed = content.get("cells") if isinstance(content, dict) else None
    if not isinstance(listed, list):
        raise UnreadableNotebook("no_cells")
    return tuple(
        NotebookCell(index=index, text=_cell_source(cell))
        for index, cell in enumerate(listed)
        if isinstance(cell, dict) and cell.get("cell_type") == "code"
    )


def _cell_source(cell: dict[str, Any]) -> str:
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        return "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""


def scan_notebook(
    path: str,
    text: str,
    exports: ProjectExports | None = None,
    scan_module: ModuleScanner = shell.scan_python,
) -> Iterator[Occurrence]:
    """Lines count from 1 inside the cell that `cell` names, the index among all cells from 0.

    `scan_module` reads the module that the Python of all cells makes: an import in one cell is known in the
    next. Raises UnreadableNotebook.
    """
    python_cells = []
    for cell in parse_cells(text):
        if cell.text.lstrip().startswith("%%") and not PYTHON_CELL.match(cell.text):
            for occurrence in _scan_magic_cell(path, cell):
                yield msgspec.structs.replace(occurrence, cell=cell.index)
        else:
            yield from (
                msgspec.structs.replace(occurrence, cell=cell.index) for occurrence in _scan_commands(path, cell)
            )
            python_cells.append(blank_ipython(cell))
    yield from embedded.scan_cells(path, python_cells, exports or ProjectExports(), scan_module)


def _scan_magic_cell(path: str, cell: NotebookCell) -> Iterator[Occurrence]:
    """A cell that is a shell script, or a file that is written."""
    source = ScannedText(path, cell.text)
    begin = source.line_end(len(cell.text) - len(cell.text.lstrip()))
    target_file = WRITEFILE.match(cell.text)
    if SHELL_CELL.match(cell.text):
        yield from shell.scan_shell(source, begin, len(cell.text))
    elif target_file and target_file[1].endswith(".py"):
        yield from embedded.scan_embedded_python(source, begin, len(cell.text), shell.scan_python)
    elif target_file and target_file[1].endswith((".sh", ".bash")):
        yield from shell.scan_shell(source, begin, len(cell.text))
    elif target_file and target_file[1].endswith(tuple(config_files.PARSERS)):
        yield from config_files.scan_config_region(source, target_file[1], shell.scan_shell, begin)


def _scan_commands(path: str, cell: NotebookCell) -> Iterator[Occurrence]:
    source = ScannedText(path, cell.text)
    for match in COMMAND.finditer(cell.text):
        begin, end = match.start(2), _command_end(cell.text, match.end())
        if match[1] != "%" or RUN_COMMAND.match(match[2]):
            yield from shell.scan_shell(source, begin, end)
        elif variable := SET_VARIABLE.match(match[2]):
            yield from _scan_variable(source, begin + variable.end(), end)


def _command_end(text: str, end: int) -> int:
    """Where a command ends that goes on behind a backslash."""
    while text[max(end - 2, 0) : end].rstrip("\r").endswith("\\") and end < len(text):
        line_break = text.find("\n", end + 1)
        end = line_break if line_break >= 0 else len(text)
    return end


def _scan_variable(source: ScannedText, begin: int, end: int) -> Iterator[Occurrence]:
    """`%env NAME=value` or `%env NAME value`."""
    name, _, value = re.sub(r"[ \t]", "=", source.text[begin:end], count=1).partition("=")
    if gpu_names.ENVIRONMENT.match(name):
        args = {"value": value}
        yield source.occurrence(begin, begin + len(name), "cuda_env", name=name, context="env", args=args)
    yield from requirements.scan_index_addresses(source, begin, end)
