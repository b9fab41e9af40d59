"""What decides how much of a card's memory a training holds."""

from __future__ import annotations

import functools
from importlib import import_module

from ascend_studio.contract import log

if False:
    from typing import Any


def install(torch: Any) -> None:
    checkpoint: Any = import_module("torch.utils.checkpoint")
    checkpoint.checkpoint = _counted("checkpointing", "checkpoint", checkpoint.checkpoint)
    graph = torch.autograd.graph
    for name in ("save_on_cpu", "saved_tensors_hooks"):
        if hasattr(graph, name):
            kind = getattr(graph, name)
            kind.__init__ = _counted("offloading", name, kind.__init__)
    for module in (torch.cuda, getattr(torch, "npu", torch.cuda)):
        if hasattr(module, "set_per_process_memory_fraction"):
            module.set_per_process_memory_fraction = _fraction(module.set_per_process_memory_fraction)
    optimizer = torch.optim.Optimizer
    optimizer.zero_grad = _zeroing(optimizer.zero_grad)


def _counted(topic: str, name: str, original: Any) -> Any:
    @functools.wraps(original)
    def called(*args: Any, **kwargs: Any) -> Any:
        if not log.is_compiling() and log.is_from_script():
            log.add(topic, name)
        return original(*args, **kwargs)

    return called


def _fraction(original: Any) -> Any:
    @functools.wraps(original)
    def limited(fraction: Any, *args: Any, **kwargs: Any) -> Any:
        log.append("limits", "memory fraction %s" % fraction)
        return original(fraction, *args, **kwargs)

    return limited


def _zeroing(original: Any) -> Any:
    @functools.wraps(original)
    def zero_grad(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not log.is_compiling():
            chosen = args[0] if args else kwargs.get("set_to_none", "default")
            log.add("gradients_kept", "zero_grad(set_to_none=%s)" % chosen)
        return original(self, *args, **kwargs)

    return zero_grad
