"""What a comparison with a device guards, where an NPU has no way through it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.migration.scan.python.categories import api_category

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backends.migration.scan.python.module import Module

_NO_SUPPORT = frozenset(("dataparallel", "cuda_graph"))
_NO_EFFECT = "cudnn"
_POSITIVE_OPERATORS = (ast.Eq, ast.In, ast.Is)


def find_blocker(compare: ast.Compare, module: Module) -> str:
    """The name that every way through the guarded branch meets and that no NPU has, such as torch.nn.DataParallel; a
    setting of cuDNN where there is nothing else in the branch; "" where an NPU may take it."""
    branch = _guarded_branch(compare, module)
    return _first_blocker(branch, module) or _only_cudnn_settings(branch, module)


def _guarded_branch(compare: ast.Compare, module: Module) -> Sequence[ast.AST]:
    """What runs where the comparison holds; empty where it guards nothing by itself."""
    holds = isinstance(compare.ops[0], _POSITIVE_OPERATORS)
    child: ast.AST = compare
    for parent in module.index.ancestors(compare):
        if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
            holds = not holds
        elif isinstance(parent, ast.If) and child is parent.test:
            return parent.body if holds else parent.orelse
        elif isinstance(parent, ast.IfExp) and child is parent.test:
            return [parent.body if holds else parent.orelse]
        elif not isinstance(parent, ast.BoolOp):
            break
        child = parent
    return ()


def _first_blocker(branch: Iterable[ast.AST], module: Module) -> str:
    return next((name for node in branch if (name := _blocker(node, module))), "")


def _blocker(node: ast.AST, module: Module) -> str:
    if isinstance(node, ast.If):
        return _first_blocker(node.body, module) and _first_blocker(node.orelse, module)
    if isinstance(node, ast.With | ast.For | ast.While):
        return _first_blocker(node.body, module)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Try):
        return ""
    return next((name for name in _names_in(node, module) if api_category(name) in _NO_SUPPORT), "")


def _only_cudnn_settings(branch: Sequence[ast.AST], module: Module) -> str:
    """Return the first setting of a branch that only assigns settings of cuDNN, else ""."""
    targets = [statement.targets[0] for statement in branch if isinstance(statement, ast.Assign)]
    names = [module.name_of(target) or "" for target in targets]
    is_all = bool(names) and len(names) == len(branch) and all(api_category(name) == _NO_EFFECT for name in names)
    return names[0] if is_all else ""


def _names_in(node: ast.AST, module: Module) -> Iterable[str]:
    named = (node_inside for node_inside in ast.walk(node) if isinstance(node_inside, ast.Attribute | ast.Name))
    return (name for node_inside in named if (name := module.name_of(node_inside)))
