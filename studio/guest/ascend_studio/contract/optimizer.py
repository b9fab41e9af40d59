"""Optimizers: class, groups, sizes and dtypes of parameters, hyperparameters of each step."""

from __future__ import annotations

import functools
import os
import weakref
from importlib import import_module

from ascend_studio import hooks
from ascend_studio.contract import dtypes, log, placement

if False:
    from typing import Any, Dict, List, Tuple

_locations: Any = weakref.WeakKeyDictionary()
_numbers: Any = weakref.WeakKeyDictionary()


def install(torch: Any) -> None:
    module = import_module("torch.optim.optimizer")
    module.Optimizer.__init__ = _located(module.Optimizer.__init__)
    if hasattr(module, "register_optimizer_step_pre_hook"):
        module.register_optimizer_step_pre_hook(hooks.guarded("contract of optimizer")(_stepping))
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_numbers.clear)


def _located(original: Any) -> Any:
    @functools.wraps(original)
    def initialized(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        _locations[self] = log.record.user_location()

    return initialized


def _stepping(optimizer: Any, _args: Any, _kwargs: Any) -> None:
    if optimizer not in _numbers:
        _numbers[optimizer] = len(_numbers)
        _describe(optimizer)
    rates = ["%s" % _plain(group.get("lr")) for group in optimizer.param_groups]
    log.append("optimizer_steps", "%s %d: lr %s" % (type(optimizer).__name__, _numbers[optimizer], ", ".join(rates)))


def _describe(optimizer: Any) -> None:
    """Record an optimizer at its first step: groups may be added until then."""
    location = _locations.get(optimizer)
    for number, group in enumerate(optimizer.param_groups):
        head = "%s %d, group %d" % (type(optimizer).__name__, _numbers[optimizer], number)
        settings = ["%s=%s" % (name, _plain(group[name])) for name in sorted(group) if name != "params"]
        log.append("optimizer", "%s: %s" % (head, ", ".join(settings)), location)
        sizes: Dict[Tuple[str, str], List[int]] = {}
        for tensor in group["params"]:
            size = sizes.setdefault((dtypes.name_of(tensor.dtype), placement.place_of(tensor)), [0, 0])
            size[0], size[1] = size[0] + 1, size[1] + tensor.numel()
        for (dtype, place), (count, elements) in sorted(sizes.items()):
            log.append("parameters", "%s: %d × %s, %d elements" % (head, count, dtype, elements), location)
            if place:
                log.append("places", "%s: %d tensors on %s" % (head, count, place), location)


def _plain(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "(%s)" % ", ".join([_plain(item) for item in value])
    if isinstance(value, log.torch.Tensor):
        return str(value.item()) if value.numel() == 1 else "tensor"
    if value is None or isinstance(value, (bool, int, float, str)):
        return str(value)
    return type(value).__name__
