"""hccl: gloo over the memory of the cards.

Tensors of a card come to gloo as tensors of the CPU over the same memory. A group of hccl alone takes no tensor of the
CPU, and nccl is not there: both are refused by torch itself, as on a card's host.
"""

from __future__ import annotations

import functools

from ascend_studio.virtual_npu import dispatch, storages

if False:
    from typing import Any, Callable, Dict, List

_libraries: List[Any] = []
_torch: Any = None


def install(torch: Any) -> None:
    global _torch
    if not torch.distributed.is_available():
        return
    _torch = torch
    distributed = torch.distributed
    if not hasattr(distributed.Backend, "HCCL"):
        distributed.Backend.register_backend("hccl", _gloo, devices=["npu"])
    distributed.is_hccl_available = lambda: True
    dispatch.add(_install_collectives(torch))


def _gloo(store: Any, rank: int, size: int, timeout: Any) -> Any:
    return _torch.distributed.ProcessGroupGloo(store, rank, size, timeout)


def _install_collectives(torch: Any) -> Dict[Any, Callable[[Any, Any, Any], Any]]:
    """Return the kernel of each collective: torch's own, with the host's memory of the tensors."""
    library = torch.library.Library("c10d", "IMPL")
    _libraries.append(library)
    collectives: Dict[Any, Callable[[Any, Any, Any], Any]] = {}
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    for name in torch._C._dispatch_get_all_op_names():
        if name.startswith("c10d::") and has_kernel(name, "PrivateUse1"):
            op = dispatch.operator(torch, name[6:], "c10d")
            kernel = torch.library.get_kernel(name, "PrivateUse1")
            collectives[op] = functools.partial(_collective, kernel)
            with dispatch.quiet():
                library.impl(name, dispatch.entry(op), "PrivateUse1", allow_override=True)
    return collectives


def _collective(kernel: Any, _op: Any, args: Any, kwargs: Any) -> Any:
    pairs: Dict[int, Any] = {}
    keys = _torch._C.DispatchKeySet(_torch._C.DispatchKey.PrivateUse1)
    result = kernel.call_boxed(keys, *_on_host(args, pairs), **_on_host(kwargs, pairs))
    return _on_card(result, pairs)


def _on_host(value: Any, pairs: Dict[int, Any]) -> Any:
    """Return arguments with the host's memory in place of tensors of a card; `pairs` keeps both by the former's id."""
    if isinstance(value, _torch.Tensor):
        if value.is_cpu:
            return value
        on_host = storages.host(value)
        pairs[id(on_host)] = (on_host, value)
        return on_host
    if isinstance(value, (list, tuple)):
        return [_on_host(item, pairs) for item in value]
    if isinstance(value, dict):
        return {name: _on_host(item, pairs) for name, item in value.items()}
    return value


def _on_card(value: Any, pairs: Dict[int, Any]) -> Any:
    if isinstance(value, _torch.Tensor):
        pair = pairs.get(id(value))
        return value if pair is None else pair[1]
    if isinstance(value, list):
        return [_on_card(item, pairs) for item in value]
    if isinstance(value, tuple):
        return tuple(_on_card(item, pairs) for item in value)
    return value
