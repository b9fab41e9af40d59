"""The name "npu" without an index means the current card.

torch asks its device guard for that, and the guard of a device in Python always answers 0.
"""

from __future__ import annotations

import functools
from importlib import import_module

from ascend_studio.virtual_npu import cards
from ascend_studio.virtual_npu.replaced import replace

if False:
    from typing import Any, Callable

_torch: Any = None


def install(torch: Any) -> None:
    global _torch
    _torch = torch
    # It keeps the factories that it finds, for `with torch.device(…)`; it is to find torch's own.
    import_module("torch.utils._device")._device_constructors()
    for name in ("to", "new_tensor", "type"):
        replace(torch.Tensor, name, placed)
    for name in ("tensor", "as_tensor", "asarray", "scalar_tensor"):
        replace(torch, name, placed)
    graph = torch.autograd.graph
    graph._engine_run_backward = _in_this_thread(graph._engine_run_backward)
    for module in (torch.autograd, torch._tensor):
        if hasattr(module, "_engine_run_backward"):
            module._engine_run_backward = graph._engine_run_backward
    torch.Tensor.record_stream = lambda *_: None


def placed(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def with_index(*args: Any, **kwargs: Any) -> Any:
        if not cards.current():
            return original(*args, **kwargs)
        device = kwargs.get("device")
        if device is not None:
            kwargs["device"] = _with_index(device)
        return original(*map(_with_index, args), **kwargs)

    return with_index


def _with_index(value: Any) -> Any:
    if isinstance(value, str):
        return _torch.device("npu", cards.current()) if value == "npu" else value
    if isinstance(value, _torch.device) and value.type == "npu" and value.index is None:
        return _torch.device("npu", cards.current())
    return value


def _in_this_thread(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return the backward pass without threads: torch starts one for npu:0 alone, and whoever follows the operators
    of a training sees one thread.
    """

    @functools.wraps(original)
    def run_backward(*args: Any, **kwargs: Any) -> Any:
        with _torch.autograd.set_multithreading_enabled(False):
            return original(*args, **kwargs)

    return run_backward
