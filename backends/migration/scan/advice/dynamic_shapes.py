"""Results whose shape depends on values: the host waits for the count, and kernels of new shapes are compiled."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.migration.scan.advice.module_view import (
    Function,
    ModuleView,
    fold_repeats,
    may_be_tensor_method,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import Occurrence

CALLS = {"torch.nonzero", "torch.argwhere", "torch.masked_select", "torch.unique", "torch.unique_consecutive"}
METHODS = {"nonzero", "argwhere", "masked_select", "unique_consecutive"}
WHERE = "torch.where"
DATA = {"data", "dataset", "datasets"}
MAX_PER_RULE = 5
HOST = ("Dataset", "Sampler", "Loader", "Tokenizer", "Transform", "Augment")
HOST_FUNCTIONS = ("__getitem__", "__iter__", "collate", "load_", "plot", "draw", "test_")


def advise_dynamic_shapes(view: ModuleView) -> Iterator[Occurrence]:
    if view.uses_torch and not DATA.intersection(view.module.path.split("/")[:-1]):
        yield from fold_repeats(_find_dynamic_shapes(view), MAX_PER_RULE)


def _find_dynamic_shapes(view: ModuleView) -> Iterator[Occurrence]:
    for call, name in view.module.calls:
        api = _api_name(view, call, name)
        if api and not _is_on_host(view, call):
            yield from view.advise(call, "advice.dynamic_shape", api)
    for node in view.nodes(ast.Subscript):
        if _is_masked(view, node) and _is_in_network(view, node):
            yield from view.advise(node, "advice.dynamic_shape", "x[mask]")


def _api_name(view: ModuleView, call: ast.Call, name: str | None) -> str:
    if name in CALLS or (name == WHERE and len(call.args) + len(call.keywords) == 1):
        return name or ""
    function = call.func
    if (
        may_be_tensor_method(name)
        and isinstance(function, ast.Attribute)
        and function.attr in METHODS
        and not view.is_numpy(function.value)
    ):
        return f"torch.Tensor.{function.attr}"
    return ""


def _is_masked(view: ModuleView, node: ast.Subscript) -> bool:
    """`x[x > 0]` and `x[~mask]` where they are read; not a store, and not a lookup by a condition of plain numbers."""
    if not isinstance(node.ctx, ast.Load):
        return False
    index = node.slice
    if isinstance(index, ast.UnaryOp):
        return isinstance(index.op, ast.Invert)
    return isinstance(index, ast.Compare) and view.module.source(node.value) in view.module.source(index)


def _is_on_host(view: ModuleView, node: ast.AST) -> bool:
    """Datasets and samplers run in workers, on the CPU."""
    for ancestor in view.ancestors(node):
        if isinstance(ancestor, ast.ClassDef) and any(word in ancestor.name for word in HOST):
            return True
        if isinstance(ancestor, Function) and any(word in ancestor.name for word in HOST_FUNCTIONS):
            return True
    return False


def _is_in_network(view: ModuleView, node: ast.AST) -> bool:
    """A method of a class that has a forward(): elsewhere the array may be numpy's."""
    for ancestor in view.ancestors(node):
        if isinstance(ancestor, ast.ClassDef):
            return any(isinstance(member, Function) and member.name == "forward" for member in ancestor.body)
    return False
