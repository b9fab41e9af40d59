"""Conditions that a host with an NPU never meets, and what is behind them."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_AVAILABLE = ("torch.cuda.is_available", "cuda.is_available")
_OF_NPU = ("npu.is_available", "is_npu_available", "is_torch_npu_available")
_IS_THERE = re.compile(r"""hasattr\(torch, ['"]npu['"]\)|(?:importlib\.)?(?:util\.)?find_spec\(['"]torch_npu['"]\)"""
                       r"""|getattr\(torch, ['"]npu['"], None\)""")  # fmt: skip
"""What is true, or not None, where torch_npu is there."""
_QUESTIONS = ("is_available", "device_count", "is_cuda", "is_initialized")
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def chain_at(tree: ast.Module, line: int, column: int) -> list[ast.AST]:
    """Return the nodes around a place, the outermost first. `line`: from 1; `column`: from 0."""
    chain: list[ast.AST] = [tree]
    while True:
        inner = next((node for node in ast.iter_child_nodes(chain[-1]) if _holds(node, line, column)), None)
        if inner is None:
            return chain
        chain.append(inner)


def _holds(node: ast.AST, line: int, column: int) -> bool:
    if not hasattr(node, "lineno"):
        return any(_holds(child, line, column) for child in ast.iter_child_nodes(node))
    assert isinstance(node, ast.stmt | ast.expr | ast.ExceptHandler | ast.arg | ast.keyword | ast.alias | ast.pattern)
    end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    return (node.lineno, node.col_offset) <= (line, column) < end


def is_chosen(chain: Sequence[ast.AST]) -> bool:
    """Tell whether an expression decides at run time whether the innermost node is computed."""
    for parent, child in pairwise(chain):
        if isinstance(parent, ast.stmt):
            continue
        if isinstance(parent, ast.IfExp) and child is not parent.test:
            return True
        if isinstance(parent, ast.Lambda):
            return True
        if isinstance(parent, ast.BoolOp) and child is not parent.values[0]:
            return not _is_question(chain[chain.index(parent) :])
    return False


def _is_question(chain: Sequence[ast.AST]) -> bool:
    """Tell whether the innermost node belongs to a question, whose answer is all that matters."""
    return any(
        isinstance(node, ast.Compare) or (isinstance(node, ast.Attribute) and node.attr in _QUESTIONS) for node in chain
    )


def is_unreachable(chain: Sequence[ast.AST], tree: ast.Module) -> bool:
    """Tell whether a condition around the innermost node keeps a host with an NPU, and without CUDA, away from it. The
    condition itself counts as behind it, unless its other side falls back to the CPU."""
    for parent, child in pairwise(chain):
        if isinstance(parent, ast.If | ast.IfExp | ast.While):
            holds = _truth(parent.test, tree, 0)
            is_kept_away = child is parent.test or holds is not _is_body(parent, child)
            if holds is not None and is_kept_away and not _falls_to_cpu(parent, holds=holds):
                return True
        if _is_after_end(parent, child):
            return True
    return False


def _is_body(parent: ast.AST, child: ast.AST) -> bool:
    body = getattr(parent, "body", None)
    return child in body if isinstance(body, list) else child is body


def _falls_to_cpu(parent: ast.If | ast.IfExp | ast.While, *, holds: bool) -> bool:
    """Tell whether the side that an NPU's host takes names the CPU, and no NPU."""
    taken = parent.body if holds else parent.orelse
    text = "\n".join(ast.unparse(node) for node in (taken if isinstance(taken, list) else [taken]))
    return '"cpu"' in text.replace("'", '"') and "npu" not in text.lower()


def _is_after_end(parent: ast.AST, child: ast.AST) -> bool:
    """Tell whether a statement stands behind a return, raise, continue or break of its own block."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and child in block:
            return any(isinstance(statement, _ENDS) for statement in block[: block.index(child)])
    return False


def _truth(test: ast.expr, tree: ast.Module, depth: int) -> bool | None:
    """Return what a condition is on a host with an NPU and without CUDA; None where that is open."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _truth(test.operand, tree, depth)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        parts = [_truth(value, tree, depth) for value in test.values]
        decisive = isinstance(test.op, ast.Or)
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive
    if isinstance(test, ast.Compare):
        return _compared(test)
    if _IS_THERE.fullmatch(ast.unparse(test)):
        return True
    if isinstance(test, ast.Name) and depth < 3:
        return _assigned(test.id, tree, depth)
    name = ast.unparse(test.func) if isinstance(test, ast.Call) else ast.unparse(test)
    if name == "TYPE_CHECKING" or name.endswith((*_AVAILABLE, ".is_cuda")):
        return False
    return True if name.endswith(_OF_NPU) else None


def _compared(test: ast.Compare) -> bool | None:
    """Return what `device.type == "cuda"`, `"cuda" in str(device)` and the like are."""
    if len(test.ops) != 1:
        return None
    if isinstance(test.ops[0], ast.Is | ast.IsNot) and ast.unparse(test.comparators[0]) == "None":
        return isinstance(test.ops[0], ast.IsNot) if _IS_THERE.fullmatch(ast.unparse(test.left)) else None
    sides = [side.value for side in (test.left, *test.comparators) if isinstance(side, ast.Constant)]
    if not any(isinstance(side, str) and side.partition(":")[0] in ("cuda", "nccl") for side in sides):
        return None
    if isinstance(test.ops[0], ast.Eq | ast.In):
        return False
    return True if isinstance(test.ops[0], ast.NotEq | ast.NotIn) else None


def _assigned(name: str, tree: ast.Module, depth: int) -> bool | None:
    """Return what a variable is that is assigned once."""
    values = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == name for one in node.targets)
    ]
    others = [
        node
        for node in ast.walk(tree)
        if (isinstance(node, ast.arg) and node.arg == name)
        or (isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store))
    ]
    return _truth(values[0], tree, depth + 1) if len(values) == len(others) == 1 else None


def statements(tree: ast.Module | None) -> Iterator[ast.stmt]:
    """Yield all statements that do something."""
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.stmt) and not _is_docstring(node):
            yield node


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def last_header_line(statement: ast.stmt) -> int:
    """Return the last line of a statement before its block, of one without a block its last."""
    block: list[ast.stmt] | None = getattr(statement, "body", None)
    if block:
        return max(statement.lineno, min(inner.lineno for inner in block) - 1)
    return statement.end_lineno or statement.lineno
