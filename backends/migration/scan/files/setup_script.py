"""Requirements in a setup.py; the rest of it is scanned as Python."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.migration.scan.files import requirements
from backends.migration.scan.files.scanned_text import ScannedText
from backends.migration.scan.python.scoped_tree import UnparsableSource, parse_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import Occurrence

KEYWORDS = frozenset({"install_requires", "setup_requires", "tests_require", "extras_require"})
VARIABLES = ("require", "install", "dependenc", "deps", "extras")


def scan_setup_script(path: str, text: str) -> Iterator[Occurrence]:
    """Scan the strings of `install_requires` and its like, literal or through a variable; none if it is no Python."""
    try:
        tree = parse_tree(text)
    except UnparsableSource:
        return
    source = ScannedText(path, text)
    lines = text.encode("utf-8", "surrogatepass").split(b"\n")
    for node in _requirement_nodes(tree):
        for string in ast.walk(node):
            if isinstance(string, ast.Constant) and isinstance(string.value, str) and string.value.strip():
                yield from _scan_string(source, lines, string, string.value)


def _requirement_nodes(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in KEYWORDS:
            yield node.value
        elif isinstance(node, ast.Assign) and isinstance(node.value, (ast.List, ast.Dict, ast.Tuple)):
            names = [target.id.lower() for target in node.targets if isinstance(target, ast.Name)]
            if any(stem in name for name in names for stem in VARIABLES):
                yield node.value


def _scan_string(source: ScannedText, lines: list[bytes], string: ast.Constant, value: str) -> Iterator[Occurrence]:
    if string.lineno != string.end_lineno:
        return
    raw = lines[string.lineno - 1][: string.col_offset].decode("utf-8", "replace")
    begin = source.line_begin(string.lineno) + len(raw)
    at = source.text.find(value, begin, source.line_end(begin))
    if at >= 0:
        yield from requirements.scan_requirement(source, at, at + len(value))
