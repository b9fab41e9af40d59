"""hccl: gloo over the memory of the cards.

Tensors of a card come to gloo as tensors of the CPU over the same memory. A group of hccl alone takes no tensor of the
CPU, and nccl is not there: both are refused by torch itself, as on a card's host.
"""

from __future__ import annotations

from ascend_studio.virtual_npu import dispatch, storages

if False:
    from typing import Any, Callable, Dict, List

CARRIER = "cuda"  # the device type whose collectives of torch take the host's tensors to a group's backend
_libraries: List[Any] = []
_torch: Any = None
# From before transfer_to_npu, which takes the carrier's name for that of the cards wherever a device is an argument.
_carrier: Any = None
_backend_of: Any = None
_register: Any = None


def install(torch: Any) -> None:
    global _torch, _carrier, _backend_of, _register
    if not torch.distributed.is_available():
        return
    _torch, _carrier = torch, torch.device(CARRIER)
    group = torch.distributed.ProcessGroup
    _backend_of, _register = group._get_backend, group._register_backend
    distributed = torch.distributed
    if not hasattr(distributed.Backend, "HCCL"):
        distributed.Backend.register_backend("hccl", _gloo, devices=["npu"])
    distributed.is_hccl_available = lambda: True
    dispatch.add(_install_collectives(torch))


def _gloo(store: Any, rank: int, size: int, timeout: Any) -> Any:
    return _torch.distributed.ProcessGroupGloo(store, rank, size, timeout)


def _install_collectives(torch: Any) -> Dict[Any, Callable[[Any, Any, Any], Any]]:
    """Return the kernel of each collective: torch's own, with the host's memory of the tensors."""
    _hide_carrier(torch.distributed.ProcessGroup)
    library = torch.library.Library("c10d", "IMPL")
    _libraries.append(library)
    collectives: Dict[Any, Callable[[Any, Any, Any], Any]] = {}
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    for name in torch._C._dispatch_get_all_op_names():
        if name.startswith("c10d::") and has_kernel(name, "PrivateUse1") and has_kernel(name, "CUDA"):
            op = dispatch.operator(torch, name[6:], "c10d")
            collectives[op] = _collective
            with dispatch.quiet():
                library.impl(name, dispatch.entry(op), "PrivateUse1", allow_override=True)
    return collectives


def _hide_carrier(group: Any) -> None:
    """Leave the carrier out of the device types that torch reads off a group."""
    types = group._device_types
    group._device_types = property(lambda self: [kind for kind in types.__get__(self) if kind.type != CARRIER])


def _collective(op: Any, args: Any, kwargs: Any) -> Any:
    pairs: Dict[int, Any] = {}
    for value in (*args, *kwargs.values()):
        if isinstance(value, _torch.ScriptObject) and value._type().name() == "ProcessGroup":
            _carry(_torch.distributed.ProcessGroup.unbox(value))
    keys = _torch._C.DispatchKeySet(_torch._C.DispatchKey.CUDA)
    result = op.redispatch(keys, *_on_host(args, pairs), **_on_host(kwargs, pairs))
    return _on_card(result, pairs)


def _carry(group: Any) -> None:
    """Give a group its backend of the cards once more, under the name of the carrier.

    A redispatch releases the GIL, which the kernel of PrivateUse1 called by itself would not: gloo's thread frees
    tensors of Python while it holds a lock that the next collective waits for.
    """
    try:
        _backend_of(group, _carrier)
    except RuntimeError:
        backend = _backend_of(group, storages.device(0))
        _register(group, _carrier, _torch.distributed.ProcessGroup.BackendType.CUSTOM, backend)


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
