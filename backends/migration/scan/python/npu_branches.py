"""Code for CUDA that stands beside a branch for NPUs: its author has seen to NPUs.

if is_torch_npu_available():
    device = "npu"
elif torch.cuda.is_available():  # from here on no NPU
    device = "cuda"
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.migration.scan.python.module import Module

Side: TypeAlias = Literal["body", "orelse", ""]
Place: TypeAlias = tuple[int, int]
"""Line and column."""

_MENTION = re.compile(r"(?i)(?<![a-z])npu|ascend|hccl")
_OTHER_SIDE: dict[Side, Side] = {"body": "orelse", "orelse": "body", "": ""}


def spans_without_npu(module: Module) -> list[tuple[Place, Place]]:
    """Return where code begins and ends that no NPU reaches, as another branch is for NPUs. Empty for most modules."""
    if not _MENTION.search(module.text):
        return []
    return [_span(node, module) for node in _nodes_without_npu(module.tree)]


def _span(node: ast.AST, module: Module) -> tuple[Place, Place]:
    span = module.span(node)
    return (span.line, span.column), (span.end, span.end_column)


def _nodes_without_npu(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.IfExp):
            yield from _beside_condition(node)
        elif isinstance(node, ast.Try) and any(_imports_torch_npu(statement) for statement in node.body):
            yield from (statement for handler in node.handlers for statement in handler.body)
        for statements in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(statements, list):
                yield from _behind_return(statements)
                yield from _beside_question(statements)


def _beside_condition(node: ast.If | ast.IfExp) -> Iterator[ast.AST]:
    side = npu_side(node)
    if side == "orelse" or (not side and _is_npu_asked_later(node)):
        yield node.test
        yield from _statements(node.body)
    elif side == "body":
        yield from _statements(node.orelse)


def _statements(branch: list[ast.stmt] | ast.expr) -> Sequence[ast.AST]:
    return branch if isinstance(branch, list) else [branch]


def _is_npu_asked_later(node: ast.If | ast.IfExp) -> bool:
    """Tell whether a later condition of `if … elif …` asks for an NPU, and the first for something else by name."""
    later = _statements(node.orelse)
    following = later[0] if len(later) == 1 else None
    if not isinstance(following, ast.If | ast.IfExp) or not _is_cuda_asked(node.test):
        return False
    return npu_side(following) == "body" or _is_npu_asked_later(following)


def _is_cuda_asked(test: ast.expr) -> bool:
    return any("cuda" in word.lower() for word in _words(test))


def _behind_return(statements: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield what follows `if npu: … return` in the same block: no NPU comes there."""
    for index, statement in enumerate(statements):
        if isinstance(statement, ast.If) and _leaves_with_npu(statement):
            yield from statements[index + 1 :]
            return


def _beside_question(statements: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield what `if cuda: …` guards where `if npu: …` stands in the same block."""
    questions = [statement for statement in statements if isinstance(statement, ast.If)]
    if any(npu_side(question) == "body" for question in questions):
        for question in questions:
            if _is_cuda_asked(question.test) and not any(map(_MENTION.search, _words(question.test))):
                yield question.test
                yield from question.body


def _leaves_with_npu(statement: ast.If) -> bool:
    leaves = isinstance(statement.body[-1], ast.Return | ast.Continue | ast.Break)
    return leaves and not statement.orelse and npu_side(statement) == "body"


def npu_side(node: ast.If | ast.IfExp) -> Side:
    """Return the branch of a condition that every NPU takes; "" where there is none, or where it only refuses them."""
    side = _side_of(node.test)
    branch = _statements(getattr(node, side)) if side else ()
    return "" if branch and isinstance(branch[0], ast.Raise) else side


def _side_of(test: ast.expr) -> Side:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _OTHER_SIDE[_side_of(test.operand)]
    if isinstance(test, ast.BoolOp):  # `npu and fused` leaves NPUs to the other branch, too
        sides = {_side_of(value) for value in test.values}
        kept: Side = "orelse" if isinstance(test.op, ast.And) else "body"
        return kept if kept in sides else ""
    if not any(_MENTION.search(word) for word in _words(test)):
        return ""
    is_denied = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.NotEq | ast.NotIn | ast.IsNot)
    return "orelse" if is_denied else "body"


def _words(node: ast.AST) -> Iterator[str]:
    """Yield the names and texts of an expression."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Attribute):
            yield inner.attr
        elif isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value


def _imports_torch_npu(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Import) and any(alias.name == "torch_npu" for alias in statement.names)
