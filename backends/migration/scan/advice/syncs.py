"""What makes the host wait for the NPU at every step of a training."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.migration.scan.advice.loops import Steps
from backends.migration.scan.advice.seen import Seen, folded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place

COPIES = {"item", "tolist", "cpu", "numpy"}
FINITE = {"torch.isnan", "torch.isfinite", "torch.isinf"}
WAITS = (
    "torch.cuda.synchronize",
    "torch.npu.synchronize",
    "torch_npu.npu.synchronize",
    "torch.accelerator.synchronize",
)
EMPTIES = ("torch.cuda.empty_cache", "torch.npu.empty_cache", "torch_npu.npu.empty_cache")
MOST = 20


def places(seen: Seen) -> Iterator[Place]:
    steps = Steps(seen)
    if not steps:
        return
    yield from folded(_copies(seen, steps), MOST)
    for call, name in seen.module.calls:
        if name in WAITS and steps.each(call):
            yield from seen.place(call, "advice.synchronize", name)
        elif name in EMPTIES and steps.each(call):
            yield from seen.place(call, "advice.empty_cache", name)


def _copies(seen: Seen, steps: Steps) -> Iterator[Place]:
    tensors = _losses(seen)
    lines: set[int] = set()
    for call, name in seen.module.calls:
        how = _how(seen, call, name, tensors)
        if how and call.lineno not in lines and steps.each(call):
            lines.add(call.lineno)
            yield from seen.place(call, "advice.host_sync", how)


def _how(seen: Seen, call: ast.Call, name: str | None, tensors: set[str]) -> str:
    """.item(), float(loss), print(loss), or a branch that a value on the device decides; else empty."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in COPIES and not call.args and not call.keywords:
        return "" if seen.is_numpy(call.func.value) else f".{call.func.attr}()"
    if name in FINITE:
        return f"if {name}()" if _decides(seen, call) else ""
    called = call.func.id if isinstance(call.func, ast.Name) else ""
    if called in ("float", "int", "bool") and len(call.args) == 1:
        return f"{called}()" if _is_one_of(call.args[0], tensors) else ""
    return "print()" if called == "print" and any(_shows(one, tensors) for one in call.args) else ""


def _losses(seen: Seen) -> set[str]:
    """Names of what backward() is called on or given, also through scaler.scale(): tensors for certain."""
    names: set[str] = set()
    for call, _ in seen.module.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "backward":
            inner = call.func.value.args[:1] if isinstance(call.func.value, ast.Call) else []
            names |= {one.id for one in (call.func.value, *call.args[:1], *inner) if isinstance(one, ast.Name)}
    return names


def _is_one_of(node: ast.expr, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _shows(node: ast.expr, tensors: set[str]) -> bool:
    """print(loss) and print(f"{loss}"): str() of a tensor copies it."""
    if isinstance(node, ast.JoinedStr):
        return any(isinstance(one, ast.FormattedValue) and _is_one_of(one.value, tensors) for one in node.values)
    return _is_one_of(node, tensors)


def _decides(seen: Seen, call: ast.Call) -> bool:
    for parent in seen.above(call):
        if isinstance(parent, ast.stmt):
            return isinstance(parent, (ast.If, ast.While, ast.Assert))
    return False
