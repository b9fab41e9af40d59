"""Code written by hand for which torch_npu has one operator."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import Occurrence
    from backends.migration.scan.advice.module_view import ModuleView

_MENTIONS = re.compile(r"rsqrt|silu|swish|softmax|rotate|rotary")
_PRODUCTS = frozenset(("matmul", "bmm", "einsum", "baddbmm"))
_SILU = frozenset(("silu", "swish"))


def advise_fused_operators(view: ModuleView) -> Iterator[Occurrence]:
    """Yield RMSNorm, rotary embedding, SwiGLU and attention, each with the lines that one operator would replace."""
    if not _MENTIONS.search(view.module.text) or not view.uses_torch:
        return
    for call, _ in view.module.calls:
        name = _called(call)
        if name == "rsqrt" and _has_mean_of_squares(view, call):
            yield from view.advise(call, "advice.fused_rms_norm", "torch_npu.npu_rms_norm")
        elif name == "cat" and _is_rotated_half(call):
            yield from view.advise(call, "advice.fused_rotary", "torch_npu.npu_rotary_mul")
        elif name in _SILU and isinstance(product := view.module.parent(call), ast.BinOp):
            if isinstance(product.op, ast.Mult):
                yield from view.advise(product, "advice.fused_swiglu", "torch_npu.npu_swiglu")
        elif name == "softmax" and _is_between_products(view, call):
            yield from view.advise(call, "advice.fused_attention", "torch_npu.npu_fusion_attention")


def _called(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))


def _has_mean_of_squares(view: ModuleView, call: ast.Call) -> bool:
    """Tell whether the function that takes the root also takes a mean of squares and no mean to subtract."""
    function = view.enclosing_function(call)
    if function is None:
        return False
    means = [node for node in ast.walk(function) if isinstance(node, ast.Call) and _called(node) == "mean"]
    return bool(means) and all(any(map(_is_square, ast.walk(mean))) for mean in means)


def _is_square(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        squared = _called(node) == "pow" and any(_is_two(argument) for argument in node.args)
        return squared or _called(node) == "square"
    if not isinstance(node, ast.BinOp):
        return False
    return (isinstance(node.op, ast.Pow) and _is_two(node.right)) or (
        isinstance(node.op, ast.Mult) and ast.dump(node.left) == ast.dump(node.right)
    )


def _is_two(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 2


def _is_rotated_half(call: ast.Call) -> bool:
    """Tell whether a call is `cat((-x2, x1), dim=-1)`."""
    parts = call.args[0] if call.args else None
    if not isinstance(parts, ast.Tuple | ast.List) or len(parts.elts) != 2:
        return False
    first, second = parts.elts
    return isinstance(first, ast.UnaryOp) and isinstance(first.op, ast.USub) and not isinstance(second, ast.UnaryOp)


def _is_between_products(view: ModuleView, call: ast.Call) -> bool:
    """Tell whether the function of a softmax multiplies matrices before it, one transposed, and after it."""
    function = view.enclosing_function(call)
    if function is None:
        return False
    products = [node for node in ast.walk(function) if isinstance(node, ast.expr) and _is_product(node)]
    lines = [(node.lineno, node.col_offset) for node in products]
    own = (call.lineno, call.col_offset)
    inside = any(_is_product(node) for argument in call.args for node in ast.walk(argument))
    is_fed = inside or any(line < own for line in lines) or isinstance(getattr(call.func, "value", None), ast.BinOp)
    is_used = any(line > own for line in lines) or any(_is_product(node) for node in view.ancestors(call))
    return is_fed and is_used and len(lines) > 1 and _is_transposed(view.module.source(function))


def _is_product(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.MatMult)
    return isinstance(node, ast.Call) and _called(node) in _PRODUCTS


def _is_transposed(source: str) -> bool:
    return re.search(r"transpose|permute|\.mT\b|\.T\b|einsum", source) is not None
