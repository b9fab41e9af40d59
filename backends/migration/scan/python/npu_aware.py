"""Whether the author of a line that names CUDA thought of an NPU beside it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.migration.scan.python.tree import Tree

_MOST = 16  # siblings that are looked at
_COLLECTIONS = (ast.List, ast.Tuple, ast.Set)


def names_npu_too(node: ast.AST, tree: Tree) -> bool:
    """In the same list or dict, the same condition, or another branch of the same if: `d in ("cuda", "npu")`."""
    child = node
    for parent in tree.ancestors(node):
        if any(_is_npu(sibling) for sibling in _siblings(parent)):
            return True
        if isinstance(parent, ast.stmt):
            return isinstance(parent, ast.If) and child is parent.test and _in_branches(parent, tree)
        child = parent
    return False


def _siblings(parent: ast.AST) -> Iterator[ast.AST | None]:
    if isinstance(parent, _COLLECTIONS):
        yield from parent.elts[:_MOST]
    elif isinstance(parent, ast.Dict):
        yield from (*parent.keys[:_MOST], *parent.values[:_MOST])
    elif isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
        yield from parent.args[:_MOST]  # d.startswith(("cuda", "npu"))
    elif isinstance(parent, ast.Match):
        yield from (pattern for case in parent.cases[:_MOST] for pattern in _patterns(case.pattern))
    elif isinstance(parent, ast.BoolOp):
        for value in parent.values[:_MOST]:
            yield from _compared(value)


def _compared(condition: ast.AST) -> Sequence[ast.AST]:
    """Both sides of a comparison, or what a method as startswith() is given."""
    if isinstance(condition, ast.Compare):
        return (condition.left, *condition.comparators)
    return condition.args if isinstance(condition, ast.Call) else ()


def _patterns(pattern: ast.pattern) -> Iterator[ast.expr]:
    either = pattern.patterns[:_MOST] if isinstance(pattern, ast.MatchOr) else [pattern]
    yield from (one.value for one in either if isinstance(one, ast.MatchValue))


def _is_npu(node: ast.AST | None) -> bool:
    if isinstance(node, _COLLECTIONS):
        return any(_is_npu(element) for element in node.elts[:_MOST])
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, str) and (value == "hccl" or value.partition(":")[0] == "npu")


def _in_branches(statement: ast.If, tree: Tree) -> bool:
    first = statement
    while isinstance(outer := tree.parents.get(first), ast.If) and outer.orelse == [first]:
        first = outer
    branch: ast.stmt | None = first
    for _ in range(_MOST):
        if not isinstance(branch, ast.If):
            return False
        conditions = branch.test.values if isinstance(branch.test, ast.BoolOp) else [branch.test]
        if any(_is_npu(side) for condition in conditions for side in _compared(condition)):
            return True
        branch = branch.orelse[0] if len(branch.orelse) == 1 else None
    return False
