"""What a comparison with a device guards, where an NPU has no way through it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.migration.scan.python.categories import category_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backends.migration.scan.python.module import Module

_NO_WAY = frozenset(("dataparallel", "cuda_graph"))
_NO_USE = "cudnn"
_AGREEING = (ast.Eq, ast.In, ast.Is)


def leads_to(compare: ast.Compare, module: Module) -> str:
    """The name that every way through the guarded branch meets and that no NPU has, such as torch.nn.DataParallel; a
    setting of cuDNN where there is nothing else in the branch; "" where an NPU may take it."""
    branch = _branch(compare, module)
    return _blocked(branch, module) or _idle(branch, module)


def _branch(compare: ast.Compare, module: Module) -> Sequence[ast.AST]:
    """What runs where the comparison holds; empty where it guards nothing by itself."""
    holds = isinstance(compare.ops[0], _AGREEING)
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


def _blocked(branch: Iterable[ast.AST], module: Module) -> str:
    return next((name for node in branch if (name := _blocks(node, module))), "")


def _blocks(node: ast.AST, module: Module) -> str:
    if isinstance(node, ast.If):
        return _blocked(node.body, module) and _blocked(node.orelse, module)
    if isinstance(node, ast.With | ast.For | ast.While):
        return _blocked(node.body, module)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Try):
        return ""
    return next((name for name in _names(node, module) if category_of(name) in _NO_WAY), "")


def _idle(branch: Sequence[ast.AST], module: Module) -> str:
    """Of a branch of plain assignments to cuDNN's settings, the first of them."""
    targets = [one.targets[0] for one in branch if isinstance(one, ast.Assign)]
    names = [module.name_of(target) or "" for target in targets]
    is_all = bool(names) and len(names) == len(branch) and all(category_of(name) == _NO_USE for name in names)
    return names[0] if is_all else ""


def _names(node: ast.AST, module: Module) -> Iterable[str]:
    named = (one for one in ast.walk(node) if isinstance(one, ast.Attribute | ast.Name))
    return (name for one in named if (name := module.name_of(one)))
