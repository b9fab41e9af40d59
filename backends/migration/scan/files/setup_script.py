"""Requirements that a setup.py names; what else it says is Python and read as that."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.migration.scan.files import requirement
from backends.migration.scan.files.source import Source
from backends.migration.scan.python.tree import Unparsable, parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place

KEYWORDS = frozenset({"install_requires", "setup_requires", "tests_require", "extras_require"})
VARIABLES = ("require", "install", "dependenc", "deps", "extras")


def places(path: str, text: str) -> Iterator[Place]:
    """Of the strings in `install_requires` and its like, in place or through a variable; none of what is no Python."""
    try:
        tree = parsed(text)
    except Unparsable:
        return
    source = Source(path, text)
    lines = text.encode("utf-8", "surrogatepass").split(b"\n")
    for node in _required(tree):
        for string in ast.walk(node):
            if isinstance(string, ast.Constant) and isinstance(string.value, str) and string.value.strip():
                yield from _requirement(source, lines, string, string.value)


def _required(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in KEYWORDS:
            yield node.value
        elif isinstance(node, ast.Assign) and isinstance(node.value, (ast.List, ast.Dict, ast.Tuple)):
            named = [target.id.lower() for target in node.targets if isinstance(target, ast.Name)]
            if any(stem in name for name in named for stem in VARIABLES):
                yield node.value


def _requirement(source: Source, lines: list[bytes], string: ast.Constant, value: str) -> Iterator[Place]:
    if string.lineno != string.end_lineno:
        return
    raw = lines[string.lineno - 1][: string.col_offset].decode("utf-8", "replace")
    begin = source.line_begin(string.lineno) + len(raw)
    at = source.text.find(value, begin, source.line_end(begin))
    if at >= 0:
        yield from requirement.places(source, at, at + len(value))
