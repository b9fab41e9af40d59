"""What the memory of a virtual NPU is used for: the label of each block, and the table at the peak.

Kinds are those of a training: parameters, buffers, gradients, optimizer (its state), activations (taken in a forward
pass that autograd follows), temporary (all else in a forward pass, a backward pass or a step of the optimizer), and
other (batches, and what is made outside of all modules). A module's name is that of the operators table.
"""

from __future__ import annotations

import weakref
from importlib import import_module

from ascend_studio import hooks
from ascend_studio.rehearsal import operators, record

if False:
    from typing import Any, Dict, Iterator, List, Tuple

MAX_MODULES = 300  # rows of a card; the smallest are one row together
_optimizers: Any = weakref.WeakSet()
_torch: Any = None


def install(torch: Any) -> None:
    global _torch
    from ascend_studio.virtual_npu import memory

    _torch = torch
    memory.labels[:] = [_label]
    memory.steps[:] = [record.steps]
    memory.marks[:] = [hooks.guarded("memory")(_mark)]
    memory.refusals[:] = [hooks.guarded("memory")(_refused)]
    record.contents.append(_fill)
    _follow_gradients(torch)
    _follow_optimizers()


def _label(is_input: bool) -> Tuple[str, str]:
    phase, module = operators.place()
    if phase == "forward":
        if is_input and not module:
            return "other", ""
        return ("activations" if _torch.is_grad_enabled() else "temporary"), module
    return "temporary", module


def _follow_gradients(torch: Any) -> None:
    """Mark gradients after each backward pass: some are gone before the optimizer's step."""
    original = torch.autograd.graph._engine_run_backward

    def run_backward(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        mark()
        return result

    mark = hooks.guarded("memory")(_mark_gradients)
    for module in (torch.autograd.graph, torch.autograd, torch._tensor):
        if hasattr(module, "_engine_run_backward"):
            module._engine_run_backward = run_backward


def _follow_optimizers() -> None:
    optimizer = import_module("torch.optim.optimizer")

    def stepped(followed: Any, *_args: Any) -> None:
        _optimizers.add(followed)
        _mark_state(followed)

    if hasattr(optimizer, "register_optimizer_step_post_hook"):
        optimizer.register_optimizer_step_post_hook(hooks.guarded("memory")(stepped))


def _mark() -> None:
    for kind, name, tensor in _module_tensors():
        _give(tensor, (kind, name))
    _mark_gradients()
    for optimizer in list(_optimizers):
        _mark_state(optimizer)


def _module_tensors() -> Iterator[Tuple[str, str, Any]]:
    for module, name in operators.named_modules():
        for tensor in module._parameters.values():
            if tensor is not None:
                yield "parameters", name, tensor
        for tensor in module._buffers.values():
            if tensor is not None:
                yield "buffers", name, tensor


def _mark_gradients() -> None:
    for kind, name, tensor in _module_tensors():
        if kind == "parameters" and tensor.grad is not None:
            _give(tensor.grad, ("gradients", name))


def _mark_state(optimizer: Any) -> None:
    names = {id(tensor): name for _, name, tensor in _module_tensors()}
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            name = names.get(id(parameter), "")
            _give(parameter, ("parameters", name))
            if parameter.grad is not None:
                _give(parameter.grad, ("gradients", name))
    for parameter, state in optimizer.state.items():
        for value in state.values() if isinstance(state, dict) else ():
            if isinstance(value, _torch.Tensor):
                _give(value, ("optimizer", names.get(id(parameter), "")))


def _give(tensor: Any, label: Tuple[str, str]) -> None:
    from ascend_studio.virtual_npu import storages

    block = storages.block_of(getattr(tensor, "_local_tensor", tensor))
    if block is not None:
        block.entry.label = label


_first_refusals: Dict[int, Dict[str, Any]] = {}


def _refused(index: int, numbers: Dict[str, int]) -> None:
    """Keep where a card had too little memory for the first time."""
    if index not in _first_refusals:
        path, line = record.user_location()
        phase, module = operators.place()
        place = {"path": path, "line": line, "step": record.steps(), "phase": phase, "module": module}
        _first_refusals[index] = dict(numbers, **place)


def _fill(part: Dict[str, Any]) -> None:
    from ascend_studio.virtual_npu import memory

    part["memory"] = [_of_card(card) for card in memory.cards() if card.ledger.peak]


def _of_card(card: Any) -> Dict[str, Any]:
    sums = card.ledger.sums()
    return {
        "card": card.index, "total": card.total, "peak": card.ledger.peak, "reserved": card.reserved_ever,
        "missing": card.over, "step": card.ledger.peak_step, "kinds": _by_kind(sums), "modules": _by_module(sums),
        "refusal": _first_refusals.get(card.index),
    }  # fmt: skip


def _by_kind(sums: Dict[Tuple[str, str], int]) -> Dict[str, int]:
    kinds: Dict[str, int] = {}
    for (kind, _), size in sums.items():
        kinds[kind] = kinds.get(kind, 0) + size
    return kinds


def _by_module(sums: Dict[Tuple[str, str], int]) -> List[Dict[str, Any]]:
    """Return the bytes of each module by kind, those of most first; `count`: of the modules that a row stands for."""
    rows: Dict[str, Dict[str, int]] = {}
    for (kind, module), size in sums.items():
        rows.setdefault(module, {})[kind] = size
    ordered = sorted(rows.items(), key=lambda row: -sum(row[1].values()))
    shown = [{"module": name, "count": 1, "kinds": kinds} for name, kinds in ordered[:MAX_MODULES]]
    rest = [kinds for _, kinds in ordered[MAX_MODULES:]]
    if rest:
        together: Dict[str, int] = {}
        for kinds in rest:
            for kind, size in kinds.items():
                together[kind] = together.get(kind, 0) + size
        shown.append({"module": "", "count": len(rest), "kinds": together})
    return shown
