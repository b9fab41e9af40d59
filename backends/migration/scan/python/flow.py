"""Which of a name's bindings a use can see."""

from __future__ import annotations

import ast
from bisect import bisect_right
from operator import attrgetter
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.scan.python.scopes import Binding
    from backends.migration.scan.python.tree import Tree

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
_MOST = 64  # bindings that are looked at; a name with more before a use is no name of a module


def reaching(tree: Tree, bindings: list[Binding], use: ast.AST | None) -> Iterator[Binding]:
    """The last binding before the use that always runs, and those after it that may; in that order, last first.

    `use`: None where the name is used in an inner function, which sees what is bound at the end.
    """
    if len(bindings) == 1:
        yield bindings[0]
        return
    before = len(bindings)
    if use is not None:
        place = (getattr(use, "lineno", 0), getattr(use, "col_offset", 0))
        before = bisect_right(bindings, place, key=attrgetter("place")) or before
    last = reversed(bindings[max(0, before - _MOST) : before])
    yield from _seen(tree, last, tuple(_branches(tree, use)))


def _seen(tree: Tree, bindings: Iterator[Binding], around: tuple[Branch, ...]) -> Iterator[Binding]:
    covered: set[Branch] = set()
    for binding in bindings:
        own = tuple(_branches(tree, binding.node))
        if _excluded(own, around) or not covered.isdisjoint(own):
            continue
        yield binding
        if _always(tuple(branch for branch in own if branch not in around), covered):
            return


def _always(inner: tuple[Branch, ...], covered: set[Branch]) -> bool:
    """Whether nothing before the binding is seen. `inner`: the branches between it and the use, innermost first."""
    for branch in inner:
        covered.add(branch)
        if not _both(covered, branch):
            return False
    return True


def _excluded(own: tuple[Branch, ...], around: tuple[Branch, ...]) -> bool:
    """The binding stands in the other branch of an if that the use stands in."""
    other = {(node, name) for node, name in around if isinstance(node, ast.If)}
    return any((node, "orelse" if name == "body" else "body") in other for node, name in own)


def _both(covered: set[Branch], branch: Branch) -> bool:
    """Both branches of the if bind the name, so nothing before it is seen."""
    node = branch[0]
    return isinstance(node, ast.If) and (node, "body") in covered and (node, "orelse") in covered


def _branches(tree: Tree, node: ast.AST | None) -> Iterator[Branch]:
    """Of the same scope, innermost first: what the node stands in that need not run."""
    child = node
    while child is not None:
        parent = tree.parents.get(child)
        if parent is None or (child is not node and child in tree.scopes):
            return
        for name in _BRANCHES.get(parent.__class__, ()):
            if any(child is statement for statement in getattr(parent, name)):
                yield parent, name
        child = parent
