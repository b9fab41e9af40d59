"""The Python frames of a slice: from its arguments, or from the Python functions that contain it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.timeline.query.source_files import find_source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from backends.timeline.query.source_files import Match

# The innermost first: of cpu_op in trace_view.json, joined by ";\r\n"; of PYTORCH_API in a db, a list (see `row_of`).
CALL_STACKS = ("Call stack", "callStack")
_FRAME = re.compile(r"(?P<path>.+)\((?P<line>\d{1,9})\): (?P<function>.*)", re.DOTALL)
_SEPARATOR = re.compile(r";\s*\r?\n|;(?=/)")
MAX_FRAMES = 500


@dataclass(frozen=True, kw_only=True)
class StackFrame:
    """`path`: None where the frame names no file (a module, a built-in function; then `function` is the whole text).
    `match`: whether the file at `path` is the one that the profile names, another of its name, or none."""

    text: str
    path: Path | None = None
    line: int = 0
    function: str = ""
    match: Match = "missing"


@dataclass(frozen=True, kw_only=True)
class SourceFolders:
    """`roots`: where relative paths of a stack may begin, such as the folders of packages. `projects`: searched whole,
    since a project may have another path on the host of the profile."""

    roots: tuple[Path, ...] = ()
    projects: tuple[Path, ...] = ()


def stack_of(
    args: Mapping[str, object], parents: Sequence[str], folders: SourceFolders | None = None
) -> tuple[StackFrame, ...]:
    """Return the frames, innermost first. `parents`: names of the enclosing slices and its own, innermost first; those
    that are Python functions are the stack where the arguments have none."""
    written = [line for key in CALL_STACKS for line in _lines(args.get(key))]
    lines = [line.strip() for line in written if line.strip()] or _python_functions(parents)
    return tuple(_frame(line, folders or SourceFolders()) for line in lines[:MAX_FRAMES])


def _lines(value: object) -> list[str]:
    if isinstance(value, str):
        return _SEPARATOR.split(value)
    return [str(line) for line in value] if isinstance(value, list) else []


def _python_functions(names: Sequence[str]) -> list[str]:
    functions = [name for name in names if _FRAME.fullmatch(name) or name.startswith(("nn.Module: ", "<built-in "))]
    return functions if any(_FRAME.fullmatch(name) for name in functions) else []


def _frame(text: str, folders: SourceFolders) -> StackFrame:
    match = _FRAME.fullmatch(text)
    if match is None:
        return StackFrame(text=text, function=text)
    line, function = int(match["line"]), match["function"]
    path, state = find_source(match["path"], line, function, (*folders.projects, *folders.roots), folders.projects)
    return StackFrame(text=text, path=path, line=line, function=function, match=state)
