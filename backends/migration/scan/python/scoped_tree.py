"""A syntax tree, walked once: parents, scopes, and the nodes that the scanners ask for."""

from __future__ import annotations

import ast
import os
import warnings
from typing import TYPE_CHECKING, Any

from backends.migration.scan.python.scopes import COMPREHENSIONS, FUNCTIONS, Scope, bind_names, function_scope

if TYPE_CHECKING:
    from collections.abc import Iterator

_WITHOUT_NODES = {"ctx", "op", "ops", "type_comment", "kind", "type_ignores", "is_async", "conversion", "level"}
_CHILDREN: dict[type[ast.AST], tuple[str, ...]] = {
    kind: tuple(reversed([name for name in kind._fields if name not in _WITHOUT_NODES]))
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
_CHILDREN[ast.Constant] = _CHILDREN[ast.Name] = ()
_COLLECTED = (
    ast.Call,
    ast.Attribute,
    ast.Name,
    ast.Constant,
    ast.JoinedStr,
    ast.BinOp,
    ast.Subscript,
    ast.Import,
    ast.ImportFrom,
    ast.keyword,
    ast.ClassDef,
    ast.FunctionDef,
)


class UnparsableSource(Exception):
    """Text that is not Python 3, is cut off, or is nested too deep; `line` where it is known, else 0."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


def parse_tree(text: str) -> ast.Module:
    """Raises Unparsable. Warnings of the parser about escapes are the project's affair."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        raise UnparsableSource(error.msg or "invalid syntax", error.lineno or 0) from None
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        raise UnparsableSource(str(error) or error.__class__.__name__, 0) from None


class ScopedTree:
    """`nodes`: those of each collected class, in source order. `scopes`: of every Name, and of what has one itself."""

    def __init__(self, tree: ast.Module, path: str, *, deep: bool = True) -> None:
        """`deep`: into functions and classes too; else only what the module's own statements bind."""
        self.root = tree
        self.package = os.path.dirname(path)  # noqa: PTH120 - a path inside the project, always with "/"
        self.parents: dict[ast.AST, ast.AST] = {}
        self.nodes: dict[type[ast.AST], list[Any]] = {kind: [] for kind in _COLLECTED}
        self.module = Scope(tree, "module", None)
        self.scopes: dict[ast.AST, Scope] = {tree: self.module}
        self._positions: dict[ast.Call, dict[ast.AST, int]] = {}
        self._keys: dict[ast.Dict, dict[ast.AST, ast.expr | None]] = {}
        self._walk(deep=deep)

    def _walk(self, *, deep: bool) -> None:
        nodes, parents, scopes, package = self.nodes, self.parents, self.scopes, self.package
        stack: list[tuple[ast.AST, Scope]] = [(self.root, self.module)]
        pop, push = stack.pop, stack.append
        while stack:
            node, scope = pop()
            kind = node.__class__
            if kind in nodes:
                nodes[kind].append(node)
                if kind is ast.Name:
                    scopes[node] = scope
                    continue
                if kind is ast.Constant:
                    continue
            bind_names(node, scope, package)
            if kind in _SCOPED:
                self._open(node, scope, stack, deep=deep)
                continue
            for name in _CHILDREN.get(kind, ()):
                child = getattr(node, name, None)
                if child.__class__ is list:
                    for element in reversed(child):
                        if isinstance(element, ast.AST):
                            parents[element] = node
                            push((element, scope))
                elif isinstance(child, ast.AST):
                    parents[child] = node
                    push((child, scope))

    def _open(self, node: ast.AST, scope: Scope, stack: list[tuple[ast.AST, Scope]], *, deep: bool) -> None:
        """Push what is in a node's own scope, and what is outside of it: decorators, defaults, bases."""
        inner = self._scope(node, scope)
        self.scopes[node] = inner
        body = getattr(node, "body", None) if isinstance(node, (ast.ClassDef, *FUNCTIONS)) else None
        for name in _CHILDREN[node.__class__]:
            child = getattr(node, name, None)
            inside = inner if body is None or child is body else scope
            for element in reversed(child) if isinstance(child, list) else (child,):
                if isinstance(element, ast.AST) and (deep or inside is scope):
                    self.parents[element] = node
                    stack.append((element, inside))

    def _scope(self, node: ast.AST, outer: Scope) -> Scope:
        if isinstance(node, ast.ClassDef):
            return Scope(node, "class", outer)
        if isinstance(node, FUNCTIONS):
            return function_scope(node, outer)
        return Scope(node, "comprehension", outer)

    def key_of(self, written: ast.Dict, value: ast.AST) -> ast.expr | None:
        """The key of a value; None for a key itself, and for **rest."""
        keys = self._keys.get(written)
        if keys is None:
            keys = self._keys[written] = dict(zip(written.values, written.keys, strict=True))
        return keys.get(value)

    def position_of(self, call: ast.Call, argument: ast.AST) -> int | None:
        """Which positional argument it is; None for another part of the call."""
        positions = self._positions.get(call)
        if positions is None:
            positions = self._positions[call] = {node: at for at, node in enumerate(call.args)}
        return positions.get(argument)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """From the parent up to the module."""
        parent = self.parents.get(node)
        while parent is not None:
            yield parent
            parent = self.parents.get(parent)


_SCOPED = frozenset((ast.ClassDef, *FUNCTIONS, *COMPREHENSIONS))
