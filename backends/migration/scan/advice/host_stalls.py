"""What makes the host wait for the NPU at every step of a training."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.migration.scan.advice.module_view import ModuleView, fold_repeats
from backends.migration.scan.advice.training_steps import TrainingSteps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import Occurrence
    from backends.migration.scan.advice.module_view import ModuleView


COPIES = {"item", "tolist", "cpu", "numpy"}
FINITE = {"torch.isnan", "torch.isfinite", "torch.isinf"}
WAITS = (
    "torch.cuda.synchronize",
    "torch.npu.synchronize",
    "torch_npu.npu.synchronize",
    "torch.accelerator.synchronize",
)
EMPTIES = ("torch.cuda.empty_cache", "torch.npu.empty_cache", "torch_npu.npu.empty_cache")
MAX_PER_RULE = 20


def advise_syncs(view: ModuleView) -> Iterator[Occurrence]:
    steps = TrainingSteps(view)
    if not steps:
        return
    yield from fold_repeats(_advise_copies(view, steps), MAX_PER_RULE)
    for call, name in view.module.calls:
        if name in WAITS and steps.is_every_step(call):
            yield from view.advise(call, "advice.synchronize", name)
        elif name in EMPTIES and steps.is_every_step(call):
            yield from view.advise(call, "advice.empty_cache", name)


def _advise_copies(view: ModuleView, steps: TrainingSteps) -> Iterator[Occurrence]:
    tensors = _loss_names(view)
    lines: set[int] = set()
    for call, name in view.module.calls:
        description = _describe_copy(view, call, name, tensors)
        if description and call.lineno not in lines and steps.is_every_step(call):
            lines.add(call.lineno)
            yield from view.advise(call, "advice.host_sync", description)


def _describe_copy(view: ModuleView, call: ast.Call, name: str | None, tensors: set[str]) -> str:
    """.item(), float(loss), print(loss), or a branch that a value on the device decides; else empty."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in COPIES and not call.args and not call.keywords:
        return "" if view.is_numpy(call.func.value) else f".{call.func.attr}()"
    if name in FINITE:
        return f"if {name}()" if _is_condition(view, call) else ""
    called = call.func.id if isinstance(call.func, ast.Name) else ""
    if called in ("float", "int", "bool") and len(call.args) == 1:
        return f"{called}()" if _is_name_in(call.args[0], tensors) else ""
    return "print()" if called == "print" and any(_formats_tensor(argument, tensors) for argument in call.args) else ""


def _loss_names(view: ModuleView) -> set[str]:
    """Names of what backward() is called on or given, also through scaler.scale(): tensors for certain."""
    names: set[str] = set()
    for call, _ in view.module.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "backward":
            inner = call.func.value.args[:1] if isinstance(call.func.value, ast.Call) else []
            names |= {node.id for node in (call.func.value, *call.args[:1], *inner) if isinstance(node, ast.Name)}
    return names


def _is_name_in(node: ast.expr, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _formats_tensor(node: ast.expr, tensors: set[str]) -> bool:
    """print(loss) and print(f"{loss}"): str() of a tensor copies it."""
    if isinstance(node, ast.JoinedStr):
        return any(isinstance(part, ast.FormattedValue) and _is_name_in(part.value, tensors) for part in node.values)
    return _is_name_in(node, tensors)


def _is_condition(view: ModuleView, call: ast.Call) -> bool:
    for parent in view.ancestors(call):
        if isinstance(parent, ast.stmt):
            return isinstance(parent, (ast.If, ast.While, ast.Assert))
    return False


LOADERS = {"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"}
WORKERS, PINNED = 5, 7


def advise_loaders(view: ModuleView) -> Iterator[Occurrence]:
    for call, name in view.module.calls:
        if name in LOADERS and (call.args or call.keywords) and not _has_unknown_arguments(call):
            if _is_falsy(_argument(call, "num_workers", WORKERS)):
                yield from view.advise(call, "advice.loader_workers", name or "")
            elif _is_falsy(_argument(call, "pin_memory", PINNED)):
                yield from view.advise(call, "advice.loader_pinned", name or "")


def _has_unknown_arguments(call: ast.Call) -> bool:
    """*args and **options may hold anything."""
    return any(isinstance(argument, ast.Starred) for argument in call.args) or any(
        keyword.arg is None for keyword in call.keywords
    )


def _argument(call: ast.Call, name: str, position: int) -> ast.expr | None:
    named = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    return named or (call.args[position] if len(call.args) > position else None)


def _is_falsy(argument: ast.expr | None) -> bool:
    return argument is None or (isinstance(argument, ast.Constant) and not argument.value)
