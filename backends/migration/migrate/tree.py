"""A parsed file, its nodes by their place in the text."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Found
    from backends.migration.migrate.source import Source

N = TypeVar("N", bound=ast.AST)


class Tree:
    """Raises SyntaxError, ValueError (NUL) or RecursionError for a text that is no Python."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.module = ast.parse(source.text)
        self.parents: dict[ast.AST, ast.AST] = {}
        self._nodes: list[tuple[int, int, ast.AST]] = []
        self._fill()
        self._nodes.sort(key=lambda one: (one[0], -one[1]))
        self._begins = [begin for begin, _, _ in self._nodes]

    def _fill(self) -> None:
        stack: list[ast.AST] = [self.module]
        while stack:
            node = stack.pop()
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
                stack.append(child)
            if isinstance(node, ast.expr | ast.stmt | ast.keyword | ast.alias):
                self._nodes.append((*self.span(node), node))

    def span(self, node: ast.expr | ast.stmt | ast.keyword | ast.alias) -> tuple[int, int]:
        """Offsets into the text."""
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        source = self.source
        return source.byte_offset(node.lineno, node.col_offset), source.byte_offset(end_line, end_column)

    def text(self, node: ast.expr | ast.stmt | ast.keyword | ast.alias) -> str:
        begin, end = self.span(node)
        return self.source.text[begin:end]

    def where(self, found: Found) -> tuple[int, int]:
        """Offsets of a finding; of its whole lines where it has no columns."""
        begin = self.source.offset(found.line, found.column)
        if (found.line, found.column) == (found.end, found.end_column):
            last = self.source.line(found.end)
            return begin, self.source.offset(found.end, 0) + len(last)
        return begin, self.source.offset(found.end, found.end_column)

    def inside(self, found: Found, kind: type[N]) -> list[N]:
        """Nodes of a kind in the span of a finding, outer ones first."""
        begin, end = self.where(found)
        first, last = bisect_left(self._begins, begin), bisect_right(self._begins, end)
        return [node for _, stop, node in self._nodes[first:last] if stop <= end and isinstance(node, kind)]

    def around(self, found: Found, kind: type[N]) -> N | None:
        """The innermost node of a kind that holds the span of a finding."""
        begin, end = self.where(found)
        for start, stop, node in reversed(self._nodes[: bisect_right(self._begins, begin)]):
            if start <= begin and end <= stop and isinstance(node, kind):
                return node
        return None

    def parent(self, node: ast.AST) -> ast.AST:
        return self.parents.get(node, self.module)

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """From the parent up to the module."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def runs_at_import(self, node: ast.AST) -> bool:
        """Whether it is evaluated while the module is imported: not in the body of a function."""
        child = node
        for parent in self.above(node):
            if isinstance(parent, ast.Lambda):
                return False
            if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef) and child in parent.body:
                return False
            child = parent
        return True

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name that the file uses for something."""
        found: set[str] = set()
        for node in ast.walk(self.module):
            if isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.arg):
                found.add(node.arg)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.alias):
                found.add((node.asname or node.name).partition(".")[0])
        return frozenset(found)

    @cached_property
    def imported(self) -> dict[str, str]:
        """Names that imports of torch bind, and what they stand for; "" for more than one thing."""
        found: dict[str, str] = {}

        def bind(name: str, meaning: str) -> None:
            found[name] = meaning if found.get(name, meaning) == meaning else ""

        for node in ast.walk(self.module):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.partition(".")[0] == "torch":
                        bind(alias.asname or "torch", alias.name if alias.asname else "torch")
            elif isinstance(node, ast.ImportFrom) and not node.level and _is_torch(node.module):
                for alias in node.names:
                    bind(alias.asname or alias.name, f"{node.module}.{alias.name}")
        return found


def _is_torch(module: str | None) -> bool:
    return (module or "").partition(".")[0] == "torch"


def words_of(node: ast.expr) -> list[str] | None:
    """The words of a dotted name."""
    words: list[str] = []
    while isinstance(node, ast.Attribute):
        words.insert(0, node.attr)
        node = node.value
    return [node.id, *words] if isinstance(node, ast.Name) else None


def part_named(node: ast.expr, name: str, wanted: str) -> ast.expr | None:
    """The part of a dotted name that stands for `wanted`, where the whole stands for `name`: `torch.cuda` in
    `torch.cuda.synchronize`, `c` in `c.synchronize`. None where a longer name is bound to a single word."""
    words = name.split(".")
    while isinstance(node, ast.Attribute) and words and node.attr == words[-1] and ".".join(words) != wanted:
        node, words = node.value, words[:-1]
    return node if ".".join(words) == wanted else None
