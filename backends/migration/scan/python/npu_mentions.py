"""Whether the author of a line that names CUDA considered an NPU too."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.migration.scan.python.scoped_tree import ScopedTree

_MAX_SIBLINGS = 16  # siblings that are looked at
_COLLECTIONS = (ast.List, ast.Tuple, ast.Set)


def considers_npu(node: ast.AST, tree: ScopedTree) -> bool:
    """In the same list or dict, the same condition, or another branch of the same if: `d in ("cuda", "npu")`."""
    child = node
    for parent in tree.ancestors(node):
        if any(_is_npu_text(sibling) for sibling in _siblings(parent)):
            return True
        if isinstance(parent, ast.stmt):
            return isinstance(parent, ast.If) and child is parent.test and _has_npu_branch(parent, tree)
        child = parent
    return False


def _siblings(parent: ast.AST) -> Iterator[ast.AST | None]:
    if isinstance(parent, _COLLECTIONS):
        yield from parent.elts[:_MAX_SIBLINGS]
    elif isinstance(parent, ast.Dict):
        yield from (*parent.keys[:_MAX_SIBLINGS], *parent.values[:_MAX_SIBLINGS])
    elif isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
        yield from parent.args[:_MAX_SIBLINGS]  # d.startswith(("cuda", "npu"))
    elif isinstance(parent, ast.Match):
        yield from (pattern for case in parent.cases[:_MAX_SIBLINGS] for pattern in _pattern_values(case.pattern))
    elif isinstance(parent, ast.BoolOp):
        for value in parent.values[:_MAX_SIBLINGS]:
            yield from _compared_values(value)


def _compared_values(condition: ast.AST) -> Sequence[ast.AST]:
    """Both sides of a comparison, or what a method as startswith() is given."""
    if isinstance(condition, ast.Compare):
        return (condition.left, *condition.comparators)
    return condition.args if isinstance(condition, ast.Call) else ()


def _pattern_values(pattern: ast.pattern) -> Iterator[ast.expr]:
    either = pattern.patterns[:_MAX_SIBLINGS] if isinstance(pattern, ast.MatchOr) else [pattern]
    yield from (value.value for value in either if isinstance(value, ast.MatchValue))


def _is_npu_text(node: ast.AST | None) -> bool:
    if isinstance(node, _COLLECTIONS):
        return any(_is_npu_text(element) for element in node.elts[:_MAX_SIBLINGS])
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, str) and (value == "hccl" or value.partition(":")[0] == "npu")


def _has_npu_branch(statement: ast.If, tree: ScopedTree) -> bool:
    first = statement
    while isinstance(outer := tree.parents.get(first), ast.If) and outer.orelse == [first]:
        first = outer
    branch: ast.stmt | None = first
    for _ in range(_MAX_SIBLINGS):
        if not isinstance(branch, ast.If):
            return False
        conditions = branch.test.values if isinstance(branch.test, ast.BoolOp) else [branch.test]
        if any(_is_npu_text(side) for condition in conditions for side in _compared_values(condition)):
            return True
        branch = branch.orelse[0] if len(branch.orelse) == 1 else None
    return False
