"""Which bindings of a name reach a use of it."""

from __future__ import annotations

import ast
from bisect import bisect_right
from operator import attrgetter
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.scan.python.scoped_tree import ScopedTree
    from backends.migration.scan.python.scopes import Binding

Branch: TypeAlias = tuple[ast.AST, str]

_BRANCHES: dict[type[ast.AST], tuple[str, ...]] = {
    ast.If: ("body", "orelse"),
    ast.For: ("body", "orelse"),
    ast.AsyncFor: ("body", "orelse"),
    ast.While: ("body", "orelse"),
    ast.Try: ("body", "handlers", "orelse"),
    ast.ExceptHandler: ("body",),
    ast.match_case: ("body",),
}
if (_try_star := getattr(ast, "TryStar", None)) is not None:  # Python 3.11
    _BRANCHES[_try_star] = _BRANCHES[ast.Try]
_MAX_BINDINGS = 64  # bindings that are looked at; a name with more before a use is no name of a module


def reaching_bindings(tree: ScopedTree, bindings: list[Binding], use: ast.AST | None) -> Iterator[Binding]:
    """The last binding before the use that always runs, and those after it that may; in that order, last first.

    `use`: None where the name is used in an inner function, which sees what is bound at the end.
    """
    if len(bindings) == 1:
        yield bindings[0]
        return
    count = len(bindings)
    if use is not None:
        position = (getattr(use, "lineno", 0), getattr(use, "col_offset", 0))
        count = bisect_right(bindings, position, key=attrgetter("position")) or count
    last = reversed(bindings[max(0, count - _MAX_BINDINGS) : count])
    yield from _visible_bindings(tree, last, tuple(_branches(tree, use)))


def _visible_bindings(tree: ScopedTree, bindings: Iterator[Binding], around: tuple[Branch, ...]) -> Iterator[Binding]:
    covered: set[Branch] = set()
    for binding in bindings:
        own = tuple(_branches(tree, binding.node))
        if _excluded(own, around) or not covered.isdisjoint(own):
            continue
        yield binding
        if _runs_always(tuple(branch for branch in own if branch not in around), covered):
            return


def _runs_always(inner: tuple[Branch, ...], covered: set[Branch]) -> bool:
    """Whether no earlier binding reaches the use. `inner`: the branches between it and the use, innermost first."""
    for branch in inner:
        covered.add(branch)
        if not _covers_both(covered, branch):
            return False
    return True


def _excluded(own: tuple[Branch, ...], around: tuple[Branch, ...]) -> bool:
    """Whether the binding is in the other branch of an if around the use."""
    other = {(node, name) for node, name in around if isinstance(node, ast.If)}
    return any((node, "orelse" if name == "body" else "body") in other for node, name in own)


def _covers_both(covered: set[Branch], branch: Branch) -> bool:
    """Whether both branches of the if bind the name, so that no earlier binding reaches the use."""
    node = branch[0]
    return isinstance(node, ast.If) and (node, "body") in covered and (node, "orelse") in covered


def _branches(tree: ScopedTree, node: ast.AST | None) -> Iterator[Branch]:
    """Yield the conditional branches around a node in its own scope, innermost first."""
    child = node
    while child is not None:
        parent = tree.parents.get(child)
        if parent is None or (child is not node and child in tree.scopes):
            return
        for name in _BRANCHES.get(parent.__class__, ()):
            if any(child is statement for statement in getattr(parent, name)):
                yield parent, name
        child = parent
