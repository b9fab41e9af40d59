"""The file on this host that a frame of a profile stands for: only one that has the frame's function at its line.

A profile is often recorded on another host, with other versions: a file of the same name may have anything at that
line. Source is parsed (`ast`), never run.
"""

from __future__ import annotations

import ast
import os
import time
from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from studio import files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Match = Literal["same", "other", "missing"]
MAX_BYTES = 2_000_000
MAX_FILES, MAX_DEPTH = 20_000, 12
MAX_CANDIDATES = 40
KEPT_SECONDS = 30
_SKIPPED = frozenset(("__pycache__", "node_modules", "site-packages", "venv", "env"))


def find_source(
    text: str, line: int, function: str, roots: Sequence[Path], projects: Sequence[Path]
) -> tuple[Path, Match]:
    """Return the file of a frame and what it is: "same" has the function at that line; "other" has the name, and
    something else there; "missing": then the path is as written. `roots`: where a relative path may begin. `projects`:
    folders in which the file may lie anywhere, since they may have another path on the host of the profile."""
    written = Path(text)
    named = [path for path in (written, *(root / written for root in roots)) if _exists(path)]
    for path in (*named, *_elsewhere(written, projects)):
        if has_function(path, line, function):
            return path, "same"
    return (named[0], "other") if named else (written, "missing")


def has_function(path: Path, line: int, function: str) -> bool:
    """Tell whether a line of a file is part of a function of that name; of a module or a lambda, whether it is code."""
    try:
        state = path.stat()
        source = _parsed(path, state.st_mtime_ns, state.st_size)
    except (OSError, ValueError):
        return False
    name = function.strip().rpartition(".")[2]
    if name and not name.startswith("<"):
        return any(first <= line <= last for first, last in source.functions.get(name, ()))
    return line in source.code_lines


class _Source:
    """`functions`: first and last line of each function and class, by name. `code_lines`: lines that are not blank."""

    def __init__(self, text: str) -> None:
        self.code_lines = {number for number, line in enumerate(text.splitlines(), 1) if line.strip()}
        self.functions: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                first = min((decorator.lineno for decorator in node.decorator_list), default=node.lineno)
                self.functions[node.name].append((first, node.end_lineno or node.lineno))


@lru_cache(maxsize=128)
def _parsed(path: Path, _changed_ns: int, _size: int) -> _Source:
    """Parse a file. Raises OSError or ValueError, also where it is no Python or too large."""
    try:
        return _Source(files.read_bytes(path, MAX_BYTES).decode("utf-8", "replace"))
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(str(path)) from error


def _elsewhere(written: Path, projects: Sequence[Path]) -> Iterator[Path]:
    """Yield files of the projects that have the same name, those with the most folders in common first."""
    period = int(time.monotonic() // KEPT_SECONDS)
    candidates = [path for folder in projects for path in _by_name(folder, period).get(written.name, ())]
    yield from sorted(candidates, key=lambda path: (-_common(written, path), len(path.parts)))[:MAX_CANDIDATES]


def _common(written: Path, path: Path) -> int:
    pairs = zip(reversed(written.parts), reversed(path.parts), strict=False)
    return next((number for number, (left, right) in enumerate(pairs) if left != right), len(written.parts))


@lru_cache(maxsize=8)
def _by_name(folder: Path, _period: int) -> dict[str, list[Path]]:
    """Return the Python files of a folder by name; of a very large one the first MAX_FILES."""
    by_name: defaultdict[str, list[Path]] = defaultdict(list)
    left = MAX_FILES
    for parent, folders, names in os.walk(folder):
        depth = len(Path(parent).parts) - len(folder.parts)
        folders[:] = [] if depth >= MAX_DEPTH else [name for name in folders if _is_searched(name)]
        for name in names:
            if name.endswith(".py"):
                by_name[name].append(Path(parent, name))
        left -= len(names) + len(folders)
        if left < 0:
            break
    return dict(by_name)


def _is_searched(folder: str) -> bool:
    return folder not in _SKIPPED and not folder.startswith(".")


def _exists(path: Path) -> bool:
    try:
        return path.is_absolute() and path.is_file()
    except (OSError, ValueError):  # too long, or with a zero byte
        return False
