"""Comparisons that were true on a GPU and are false once the tensor is on an NPU, or the backend is hccl."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.migration.scan.python.guarded import leads_to

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place
    from backends.migration.scan.advice.seen import Seen

BACKEND = "torch.distributed.get_backend"


def places(seen: Seen) -> Iterator[Place]:
    words = [(node, node.value) for node in seen.each(ast.Constant) if node.value == "cuda" or node.value == "nccl"]
    kept = _kept(seen) if words else {}
    for node, word in words:
        compared = _around(seen, node)
        of = next((one for side in _sides(compared) if (one := _source(seen, side, word, kept))), "")
        if of and not (isinstance(compared, ast.Compare) and leads_to(compared, seen.module)):
            yield from seen.place(node if isinstance(compared, ast.Match) else compared, "advice.compared", word, of=of)
    for call, name in seen.module.calls:
        around = seen.module.parent(call)
        if name == "torch.device" and isinstance(around, ast.Compare) and _is_of_cuda(call):
            yield from _devices(seen, around)


def _around(seen: Seen, node: ast.AST) -> ast.AST:
    """The comparison that a word is part of, alone or in a tuple; the match of a case."""
    for one in seen.above(node):
        if not isinstance(one, (ast.Tuple, ast.List, ast.Set, ast.pattern, ast.match_case)):
            return one
    return node


def _sides(node: ast.AST) -> list[ast.expr]:
    """Of a comparison, of `device.type.startswith("cuda")`, or of a match."""
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


def _devices(seen: Seen, compared: ast.Compare) -> Iterator[Place]:
    """`x.device == torch.device("cuda")`: torch.device itself is not wrapped."""
    if any(isinstance(side, ast.Attribute) and side.attr == "device" for side in _sides(compared)):
        yield from seen.place(compared, "advice.compared", "cuda", of="device")


def _source(seen: Seen, node: ast.expr, word: str, kept: dict[str, str]) -> str:
    """Where the value comes from: device.type, str(device) or get_backend(); empty for a plain string, which keeps the
    value that the program gave it."""
    if isinstance(node, ast.Name):
        return kept.get(f"{word} {node.id}", "")
    if word == "nccl":
        return "get_backend()" if _is_backend(seen, node) else ""
    if isinstance(node, ast.Call):
        return "str(device)" if seen.name_of(node.func) == "str" and any(map(_is_device, node.args)) else ""
    return "device.type" if isinstance(node, ast.Attribute) and _is_type(node) else ""


def _is_backend(seen: Seen, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    own = isinstance(node.func, ast.Attribute) and node.func.attr == "get_backend"
    return own or seen.name_of(node.func) == BACKEND


def _is_type(node: ast.Attribute) -> bool:
    return node.attr == "type" and _is_device(node.value)


def _is_device(node: ast.expr) -> bool:
    """`device`, `x.device`, `self.dev`: no other attribute named `type` holds "cuda"."""
    last = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return "dev" in last.lower()


def _kept(seen: Seen) -> dict[str, str]:
    """Variables that hold a device's type or the backend, by "cuda name" and "nccl name"."""
    kept: dict[str, str] = {}
    types = ((node, "cuda", "device.type") for node in seen.each(ast.Attribute) if _is_type(node))
    backends = ((call, "nccl", "get_backend()") for call, _ in seen.module.calls if _is_backend(seen, call))
    for node, word, of in (*types, *backends):
        assigned = seen.module.parent(node)
        if isinstance(assigned, ast.Assign) and isinstance(assigned.targets[0], ast.Name):
            kept[f"{word} {assigned.targets[0].id}"] = of
    return kept
