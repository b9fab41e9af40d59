"""A parsed file whose nodes can be found by their position in the text."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import ScanFinding
    from backends.migration.migrate.source_text import SourceText

N = TypeVar("N", bound=ast.AST)


class SyntaxTree:
    """Parses a text. Raises SyntaxError, ValueError (NUL) or RecursionError where it is not Python."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.module = ast.parse(source.text)
        self.parents: dict[ast.AST, ast.AST] = {}
        self._nodes: list[tuple[int, int, ast.AST]] = []
        self._fill()
        self._nodes.sort(key=lambda row: (row[0], -row[1]))
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
        """Return the offsets of a node."""
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        source = self.source
        return source.byte_offset(node.lineno, node.col_offset), source.byte_offset(end_line, end_column)

    def text(self, node: ast.expr | ast.stmt | ast.keyword | ast.alias) -> str:
        begin, end = self.span(node)
        return self.source.text[begin:end]

    def span_of_finding(self, finding: ScanFinding) -> tuple[int, int]:
        """Return the offsets of a finding, or of its whole lines where it has no columns."""
        begin = self.source.offset(finding.line, finding.column)
        if (finding.line, finding.column) == (finding.end, finding.end_column):
            last = self.source.line(finding.end)
            return begin, self.source.offset(finding.end, 0) + len(last)
        return begin, self.source.offset(finding.end, finding.end_column)

    def nodes_inside(self, finding: ScanFinding, kind: type[N]) -> list[N]:
        """Return the nodes of a kind within the span of a finding, outer ones first."""
        begin, end = self.span_of_finding(finding)
        first, last = bisect_left(self._begins, begin), bisect_right(self._begins, end)
        return [node for _, stop, node in self._nodes[first:last] if stop <= end and isinstance(node, kind)]

    def node_around(self, finding: ScanFinding, kind: type[N]) -> N | None:
        """Return the innermost node of a kind that encloses the span of a finding."""
        begin, end = self.span_of_finding(finding)
        for start, stop, node in reversed(self._nodes[: bisect_right(self._begins, begin)]):
            if start <= begin and end <= stop and isinstance(node, kind):
                return node
        return None

    def parent(self, node: ast.AST) -> ast.AST:
        return self.parents.get(node, self.module)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the ancestors of a node, from its parent up to the module."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def runs_at_import(self, node: ast.AST) -> bool:
        """Tell whether a node is evaluated while the module is imported: it is not in the body of a function."""
        child = node
        for parent in self.ancestors(node):
            if isinstance(parent, ast.Lambda) and child is parent.body:
                return False
            if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef) and child in parent.body:
                return False
            child = parent
        return True

    @cached_property
    def used_names(self) -> frozenset[str]:
        """Every name that the file uses for something."""
        names: set[str] = set()
        for node in ast.walk(self.module):
            if isinstance(node, ast.Name):
                names.add(node.id)
            elif isinstance(node, ast.arg):
                names.add(node.arg)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.alias):
                names.add((node.asname or node.name).partition(".")[0])
        return frozenset(names)

    @cached_property
    def torch_imports(self) -> dict[str, str]:
        """The names that imports of torch bind, with what they stand for; "" where a name stands for several things."""
        meanings: dict[str, str] = {}

        def bind(name: str, meaning: str) -> None:
            meanings[name] = meaning if meanings.get(name, meaning) == meaning else ""

        for node in ast.walk(self.module):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.partition(".")[0] == "torch":
                        bind(alias.asname or "torch", alias.name if alias.asname else "torch")
            elif isinstance(node, ast.ImportFrom) and not node.level and _is_torch(node.module):
                for alias in node.names:
                    bind(alias.asname or alias.name, f"{node.module}.{alias.name}")
        return meanings

    @cached_property
    def names_of_shared_imports(self) -> frozenset[str]:
        """The names that import statements bind beside other names."""
        statements = (node for node in ast.walk(self.module) if isinstance(node, ast.Import | ast.ImportFrom))
        return frozenset(
            alias.asname or alias.name for node in statements if len(node.names) > 1 for alias in node.names
        )


def _is_torch(module: str | None) -> bool:
    return (module or "").partition(".")[0] == "torch"


def find_subname(node: ast.expr, name: str, meaning: str) -> ast.expr | None:
    """Return the part of a dotted name that stands for `meaning`, where the whole stands for `name`: `torch.cuda` in
    `torch.cuda.synchronize`, `c` in `c.synchronize`. None where a longer name is bound to a single word."""
    words = name.split(".")
    while isinstance(node, ast.Attribute) and words and node.attr == words[-1] and ".".join(words) != meaning:
        node, words = node.value, words[:-1]
    return node if ".".join(words) == meaning else None
