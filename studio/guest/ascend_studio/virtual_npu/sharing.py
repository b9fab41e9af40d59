"""Tensors of a card that are sent to another process: both see one memory, as through the IPC of torch_npu."""

from __future__ import annotations

import weakref
from importlib import import_module

from ascend_studio.virtual_npu import storages

if False:
    from typing import Any, Callable, Tuple

_received: Any = weakref.WeakValueDictionary()
"""The handle of each memory that came from another process, by the address of its storage: two tensors that shared
theirs share it here."""
_reduce: Any = None


def install(torch: Any) -> None:
    global _reduce
    _reduce = import_module("torch.multiprocessing.reductions").reduce_storage
    import_module("multiprocessing.reduction").register(torch.UntypedStorage, _reduced)


def _reduced(storage: Any) -> Tuple[Callable[..., Any], Tuple[Any, ...]]:
    if storage.device.type != "npu":
        reduced: Tuple[Callable[..., Any], Tuple[Any, ...]] = _reduce(storage)
        return reduced
    return _rebuilt, (storages.shared_host(storage), storage.device.index)


def _rebuilt(host: Any, index: int) -> Any:
    handle = _received.get(host._cdata)
    if handle is None:
        handle = _received[host._cdata] = storages.new_handle(host, index)
    return handle
