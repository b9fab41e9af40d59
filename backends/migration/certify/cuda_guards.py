"""What a host with an NPU never comes to, and the conditions that keep it away."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from backends.migration.certify.conditions import truth

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_CUDA_CALL = re.compile(r"cuda|cudnn|cublas|nccl", re.IGNORECASE)
_CUDA_TEXT = re.compile(r"cuda(:\d+)?|nccl")
_PRINTS = re.compile(r"print|(.*\.)?log(ger|ging)?\.(debug|info|warning|error)")


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
    """Tell whether it is decided at run time, without a line of its own, whether the innermost node is computed."""
    for parent, child in pairwise(chain):
        if isinstance(parent, ast.IfExp) and child is not parent.test:
            return True
        if isinstance(parent, ast.BoolOp) and child is not parent.values[0]:
            return True
        if isinstance(parent, ast.Lambda) or _is_each_element(parent, child):
            return True
        if not isinstance(parent, ast.Module) and isinstance(child, ast.stmt) and child.lineno <= _header_end(parent):
            return True
    return False


def _is_each_element(parent: ast.AST, child: ast.AST) -> bool:
    """Tell whether a comprehension computes the child for each element, of which there may be none."""
    if not isinstance(parent, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return False
    return child is not parent.generators[0]


def _header_end(parent: ast.AST) -> int:
    """Return the last line of what stands before the block of a statement, a handler or a case."""
    parts = [node for node in ast.iter_child_nodes(parent) if not isinstance(node, ast.stmt)]
    lines = [getattr(node, "end_lineno", None) or 0 for part in parts for node in ast.walk(part)]
    return max([getattr(parent, "lineno", 0), *lines])


def is_unreachable(chain: Sequence[ast.AST], tree: ast.Module, ran: Collection[int]) -> bool:
    """Tell whether a condition around the innermost node keeps a host with an NPU, and without CUDA, away from it. The
    condition itself counts as behind it where what it takes away is missed by nobody. `ran`: the lines that ran."""
    for parent, child in pairwise(chain):
        if isinstance(parent, ast.If | ast.IfExp | ast.While):
            holds = truth(parent.test, tree)
            if holds is None:
                continue
            if child is parent.test:
                if _is_harmless(parent, holds=holds, ran=ran):
                    return True
            elif holds is not _is_body(parent, child) and not _gives_way(parent, holds=holds):
                return True
        if _is_after_end(parent, child):
            return True
    return False


def _is_harmless(parent: ast.If | ast.IfExp | ast.While, *, holds: bool, ran: Collection[int]) -> bool:
    """Tell whether it does no harm that a host with CUDA takes one side and an NPU's host the other: what is left out
    is CUDA's own, or the condition asks for nothing else and ran, so that both sides were compared."""
    if _gives_way(parent, holds=holds):
        return False
    left_out = _side(parent, holds=not holds)
    if all(_is_of_cuda(node) for node in left_out):
        return True
    is_question = isinstance(parent, ast.If) and not any(isinstance(node, ast.BoolOp) for node in ast.walk(parent.test))
    return is_question and parent.test.lineno in ran


def _side(parent: ast.If | ast.IfExp | ast.While, *, holds: bool) -> list[ast.AST]:
    side = parent.body if holds else parent.orelse
    return list(side) if isinstance(side, list) else [side]


def _is_of_cuda(node: ast.AST) -> bool:
    """Tell whether a node does nothing but call CUDA, name it, set it up, or print."""
    if isinstance(node, ast.Constant | ast.JoinedStr):
        return _is_cuda_text(node)
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func)
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        return bool(_CUDA_CALL.search(name) or _PRINTS.fullmatch(name)) or any(map(_is_cuda_text, values))
    if isinstance(node, ast.IfExp):
        return _is_of_cuda(node.body) and _is_of_cuda(node.orelse)
    if isinstance(node, ast.Expr):
        return _is_of_cuda(node.value)
    if isinstance(node, ast.Assign):
        return _is_of_cuda(node.value) or all(_CUDA_CALL.search(ast.unparse(target)) for target in node.targets)
    if isinstance(node, ast.If):
        return all(_is_of_cuda(inner) for inner in (*node.body, *node.orelse))
    return isinstance(node, ast.Pass)


def _is_cuda_text(node: ast.AST) -> bool:
    if isinstance(node, ast.JoinedStr):
        return isinstance(node.values[0], ast.Constant) and node.values[0].value == "cuda:"
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "torch.device":
        return any(map(_is_cuda_text, node.args))
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(_CUDA_TEXT.fullmatch(node.value))


def _is_body(parent: ast.AST, child: ast.AST) -> bool:
    body = getattr(parent, "body", None)
    return child in body if isinstance(body, list) else child is body


def _gives_way(parent: ast.If | ast.IfExp | ast.While, *, holds: bool) -> bool:
    """Tell whether the side that an NPU's host takes names the CPU, and no NPU, or raises."""
    taken = _side(parent, holds=holds)
    text = "\n".join(map(ast.unparse, taken))
    is_refusal = any(isinstance(node, ast.Raise) or text.startswith("sys.exit(") for node in taken)
    return is_refusal or ('"cpu"' in text.replace("'", '"') and "npu" not in text.lower())


def _is_after_end(parent: ast.AST, child: ast.AST) -> bool:
    """Tell whether a statement stands behind a return, raise, continue or break of its own block."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and child in block:
            return any(isinstance(statement, _ENDS) for statement in block[: block.index(child)])
    return False


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
