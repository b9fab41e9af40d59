"""Comparisons that were true on a GPU and are false once the tensor is on an NPU, or the backend is hccl."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.migration.scan.python.guards import find_blocker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import Occurrence
    from backends.migration.scan.advice.module_view import ModuleView

BACKEND = "torch.distributed.get_backend"


def advise_comparisons(view: ModuleView) -> Iterator[Occurrence]:
    words = [(node, node.value) for node in view.nodes(ast.Constant) if node.value == "cuda" or node.value == "nccl"]
    device_texts = _device_texts(view) if words else {}
    for node, word in words:
        comparison = _enclosing_comparison(view, node)
        origin = next(
            (
                text_origin
                for side in _sides(comparison)
                if (text_origin := _value_origin(view, side, word, device_texts))
            ),
            "",
        )
        if origin and not (isinstance(comparison, ast.Compare) and find_blocker(comparison, view.module)):
            yield from view.advise(
                node if isinstance(comparison, ast.Match) else comparison, "advice.compared", word, of=origin
            )
    for call, name in view.module.calls:
        around = view.module.parent(call)
        if name == "torch.device" and isinstance(around, ast.Compare) and _is_of_cuda(call):
            yield from _advise_device_comparison(view, around)


def _enclosing_comparison(view: ModuleView, node: ast.AST) -> ast.AST:
    """The comparison that a word is part of, alone or in a tuple; the match of a case."""
    for ancestor in view.ancestors(node):
        if not isinstance(ancestor, (ast.Tuple, ast.List, ast.Set, ast.pattern, ast.match_case)):
            return ancestor
    return node


def _sides(node: ast.AST) -> list[ast.expr]:
    """Return the operands of a comparison, of `device.type.startswith("cuda")`, or of a match."""
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.Match):
        return [node.subject]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "startswith":
        return [node.func.value]
    return []


def _is_of_cuda(call: ast.Call) -> bool:
    first = call.args[0] if call.args else None
    return isinstance(first, ast.Constant) and str(first.value).startswith("cuda")


def _advise_device_comparison(view: ModuleView, comparison: ast.Compare) -> Iterator[Occurrence]:
    """`x.device == torch.device("cuda")`: torch.device itself is not wrapped."""
    if any(isinstance(side, ast.Attribute) and side.attr == "device" for side in _sides(comparison)):
        yield from view.advise(comparison, "advice.compared", "cuda", of="device")


def _value_origin(view: ModuleView, node: ast.expr, word: str, device_texts: dict[str, str]) -> str:
    """Where the value comes from: device.type, str(device) or get_backend(); empty for a plain string, which keeps the
    value that the program gave it."""
    if isinstance(node, ast.Name):
        return device_texts.get(f"{word} {node.id}", "")
    if word == "nccl":
        return "get_backend()" if _is_backend(view, node) else ""
    if isinstance(node, ast.Call):
        return "str(device)" if view.name_of(node.func) == "str" and any(map(_is_device, node.args)) else ""
    return "device.type" if isinstance(node, ast.Attribute) and _is_type(node) else ""


def _is_backend(view: ModuleView, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    own = isinstance(node.func, ast.Attribute) and node.func.attr == "get_backend"
    return own or view.name_of(node.func) == BACKEND


def _is_type(node: ast.Attribute) -> bool:
    return node.attr == "type" and _is_device(node.value)


def _is_device(node: ast.expr) -> bool:
    """`device`, `x.device`, `self.dev`: no other attribute named `type` holds "cuda"."""
    last = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return "dev" in last.lower()


def _device_texts(view: ModuleView) -> dict[str, str]:
    """Variables that hold a device's type or the backend, by "cuda name" and "nccl name"."""
    device_texts: dict[str, str] = {}
    types = ((node, "cuda", "device.type") for node in view.nodes(ast.Attribute) if _is_type(node))
    backends = ((call, "nccl", "get_backend()") for call, _ in view.module.calls if _is_backend(view, call))
    for node, word, origin in (*types, *backends):
        assigned = view.module.parent(node)
        if isinstance(assigned, ast.Assign) and isinstance(assigned.targets[0], ast.Name):
            device_texts[f"{word} {assigned.targets[0].id}"] = origin
    return device_texts
