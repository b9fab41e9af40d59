"""Results whose shape depends on values: the host waits for the count, and kernels of new shapes are compiled."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.migration.scan.advice.seen import Function, Seen, folded, is_open

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place

CALLS = {"torch.nonzero", "torch.argwhere", "torch.masked_select", "torch.unique", "torch.unique_consecutive"}
METHODS = {"nonzero", "argwhere", "masked_select", "unique_consecutive"}
WHERE = "torch.where"
DATA = {"data", "dataset", "datasets"}
MOST = 5
HOST = ("Dataset", "Sampler", "Loader", "Tokenizer", "Transform", "Augment")
HOST_FUNCTIONS = ("__getitem__", "__iter__", "collate", "load_", "plot", "draw", "test_")


def places(seen: Seen) -> Iterator[Place]:
    if seen.uses_torch and not DATA.intersection(seen.module.path.split("/")[:-1]):
        yield from folded(_places(seen), MOST)


def _places(seen: Seen) -> Iterator[Place]:
    for call, name in seen.module.calls:
        found = _name(seen, call, name)
        if found and not _is_on_the_host(seen, call):
            yield from seen.place(call, "advice.dynamic_shape", found)
    for node in seen.each(ast.Subscript):
        if _is_masked(seen, node) and _is_in_a_network(seen, node):
            yield from seen.place(node, "advice.dynamic_shape", "x[mask]")


def _name(seen: Seen, call: ast.Call, name: str | None) -> str:
    if name in CALLS or (name == WHERE and len(call.args) + len(call.keywords) == 1):
        return name or ""
    asked = call.func
    if is_open(name) and isinstance(asked, ast.Attribute) and asked.attr in METHODS and not seen.is_numpy(asked.value):
        return f"torch.Tensor.{asked.attr}"
    return ""


def _is_masked(seen: Seen, node: ast.Subscript) -> bool:
    """`x[x > 0]` and `x[~mask]` where they are read; not a store, and not a lookup by a condition of plain numbers."""
    if not isinstance(node.ctx, ast.Load):
        return False
    index = node.slice
    if isinstance(index, ast.UnaryOp):
        return isinstance(index.op, ast.Invert)
    return isinstance(index, ast.Compare) and seen.module.source(node.value) in seen.module.source(index)


def _is_on_the_host(seen: Seen, node: ast.AST) -> bool:
    """Datasets and samplers run in workers, on the CPU."""
    for one in seen.above(node):
        if isinstance(one, ast.ClassDef) and any(word in one.name for word in HOST):
            return True
        if isinstance(one, Function) and any(word in one.name for word in HOST_FUNCTIONS):
            return True
    return False


def _is_in_a_network(seen: Seen, node: ast.AST) -> bool:
    """A method of a class that has a forward(): elsewhere the array may be numpy's."""
    for one in seen.above(node):
        if isinstance(one, ast.ClassDef):
            return any(isinstance(member, Function) and member.name == "forward" for member in one.body)
    return False
