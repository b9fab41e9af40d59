"""The Python frames of a slice: from its arguments, or from the Python functions that contain it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# The innermost first: of cpu_op in trace_view.json, joined by ";\r\n"; of PYTORCH_API in a db, a list (see `row_of`).
CALL_STACKS = ("Call stack", "callStack")
_FRAME = re.compile(r"(?P<path>.+)\((?P<line>\d{1,9})\): (?P<function>.*)", re.DOTALL)
_SEPARATOR = re.compile(r";\s*\r?\n|;(?=/)")
MAX_FRAMES = 500


@dataclass(frozen=True, kw_only=True)
class StackFrame:
    """`path`: None where the frame names no file (a module, a built-in function; then `function` is the whole text).
    `exists`: the file is on this machine, at `path`."""

    text: str
    path: Path | None = None
    line: int = 0
    function: str = ""
    exists: bool = False


def stack_of(args: Mapping[str, object], parents: Sequence[str], roots: Sequence[Path] = ()) -> tuple[StackFrame, ...]:
    """Return the frames, innermost first. `parents`: names of the enclosing slices and its own, innermost first; those
    that are Python functions are the stack where the arguments have none. `roots`: where relative paths may begin."""
    written = [line for key in CALL_STACKS for line in _lines(args.get(key))]
    lines = [line.strip() for line in written if line.strip()] or _python_functions(parents)
    return tuple(_frame(line, roots) for line in lines[:MAX_FRAMES])


def _lines(value: object) -> list[str]:
    if isinstance(value, str):
        return _SEPARATOR.split(value)
    return [str(line) for line in value] if isinstance(value, list) else []


def _python_functions(names: Sequence[str]) -> list[str]:
    functions = [name for name in names if _FRAME.fullmatch(name) or name.startswith(("nn.Module: ", "<built-in "))]
    return functions if any(_FRAME.fullmatch(name) for name in functions) else []


def _frame(text: str, roots: Sequence[Path]) -> StackFrame:
    match = _FRAME.fullmatch(text)
    if match is None:
        return StackFrame(text=text, function=text)
    path = Path(match["path"])
    existing = next((candidate for candidate in (path, *(root / path for root in roots)) if _exists(candidate)), None)
    return StackFrame(
        text=text,
        path=existing or path,
        line=int(match["line"]),
        function=match["function"],
        exists=existing is not None,
    )


def _exists(path: Path) -> bool:
    try:
        return path.is_absolute() and path.is_file()
    except (OSError, ValueError):  # too long, or with a zero byte
        return False
