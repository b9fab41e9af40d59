"""Edits of environment variables in Python code: the names of CUDA and NCCL, and those of CANN and HCCL."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.migration.migrate.draft import Draft

if TYPE_CHECKING:
    from backends.migration.migrate.syntax_tree import SyntaxTree

# Only variables whose values mean the same; the names are from the torch_npu 2.13.0 wheel.
VARIABLES = {
    "CUDA_VISIBLE_DEVICES": "ASCEND_RT_VISIBLE_DEVICES",
    "CUDA_LAUNCH_BLOCKING": "ASCEND_LAUNCH_BLOCKING",
    "PYTORCH_CUDA_ALLOC_CONF": "PYTORCH_NPU_ALLOC_CONF",
    "NCCL_SOCKET_IFNAME": "HCCL_SOCKET_IFNAME",
    "NCCL_ASYNC_ERROR_HANDLING": "HCCL_ASYNC_ERROR_HANDLING",
    "NCCL_BLOCKING_WAIT": "HCCL_BLOCKING_WAIT",
    "TORCH_NCCL_ASYNC_ERROR_HANDLING": "TORCH_HCCL_ASYNC_ERROR_HANDLING",
    "TORCH_NCCL_BLOCKING_WAIT": "TORCH_HCCL_BLOCKING_WAIT",
}


def edit_variable(tree: SyntaxTree, node: ast.expr, *, explicit: bool) -> list[Draft] | None:
    """Return the drafts for a literal that names a variable; the explicit style keeps the other name too."""
    if not isinstance(node, ast.Constant) or node.value not in VARIABLES:
        return None
    if VARIABLES[node.value] in _statement(tree, node) or _has_npu_branch(tree, node, VARIABLES[node.value]):
        return []
    raw = tree.text(node)
    renamed = raw.replace(node.value, VARIABLES[node.value])
    begin, end = tree.span(node)
    if not explicit:
        return [Draft(begin=begin, end=end, text=renamed)]
    return _add_variable(tree, node, raw, renamed)


def _statement(tree: SyntaxTree, node: ast.expr) -> str:
    statement = next(ancestor for ancestor in tree.ancestors(node) if isinstance(ancestor, ast.stmt))
    begin, _ = tree.span(node)
    return (
        tree.text(statement)
        if isinstance(statement, ast.Assign | ast.Expr)
        else tree.source.line(tree.source.line_at(begin))
    )


def _has_npu_branch(tree: SyntaxTree, node: ast.expr, other: str) -> bool:
    """Tell whether a branch around the node handles the other variable."""
    branches = (branch for branch in tree.ancestors(node) if isinstance(branch, ast.If | ast.IfExp))
    return any(isinstance(node, ast.Constant) and node.value == other for top in branches for node in ast.walk(top))


def _add_variable(tree: SyntaxTree, node: ast.Constant, raw: str, renamed: str) -> list[Draft] | None:
    parent = tree.parent(node)
    if isinstance(parent, ast.Subscript) and parent.slice is node:
        return _edit_subscript(tree, parent, raw, renamed)
    if isinstance(parent, ast.Call) and parent.args[:1] == [node]:
        if getattr(parent.func, "attr", "") in ("get", "getenv") and not parent.keywords:
            begin, end = tree.span(parent)
            head = f"{tree.text(parent.func)}({renamed}, "
            return [Draft(begin=begin, end=begin, text=head), Draft(begin=end, end=end, text=")")]
        return None
    if isinstance(parent, ast.Dict) and node in parent.keys:
        value = tree.text(parent.values[parent.keys.index(node)])
        begin, _ = tree.span(node)
        return None if "\n" in value else [Draft(begin=begin, end=begin, text=f"{renamed}: {value}, ")]
    return None


def _edit_subscript(tree: SyntaxTree, variable: ast.Subscript, raw: str, renamed: str) -> list[Draft] | None:
    begin, end = tree.span(variable)
    text = tree.text(variable)
    other = text.replace(raw, renamed)
    parent = tree.parent(variable)
    if isinstance(parent, ast.Assign) and variable in parent.targets:
        if tree.source.text[:begin].rstrip().endswith("("):  # `(os.environ["X"]) = "0"`
            begin, _ = tree.span(parent)
        return [Draft(begin=begin, end=begin, text=f"{other} = ")]
    if isinstance(variable.ctx, ast.Load) and text.endswith(f"[{raw}]"):
        mapping = tree.text(variable.value)
        return [Draft(begin=begin, end=end, text=f"({mapping}.get({renamed}) or {text})")]
    return None
