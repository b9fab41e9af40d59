"""The memory of a card: host memory under a handle that says npu.

A tensor on a card is an ordinary torch.Tensor. Its storage is a handle of device npu:N that points at the memory of a
storage of the CPU, which it holds as `_host`. Views, versions and aliases are therefore torch's own. Kernels get
tensors of the CPU over the same memory (`host`), and what they return gets a handle (`on_card`).
"""

from __future__ import annotations

import ctypes

from ascend_studio.virtual_npu import cards, host_pages, memory

if False:
    from typing import Any, Dict, List, Tuple

NOT_STRIDED = "The virtual NPU has no %s tensors. A card may take some; that cannot be tried here."
_torch: Any = None
_handle_of: Any = None
_set_boxed: Any = None
_alias_boxed: Any = None
_strided: Any = None
_cpu_keys: Any = None
_seeds: Dict[Tuple[int, Any], Any] = {}
_devices: Dict[int, Any] = {}
_kept: List[Any] = []  # the structures that the first tensors of a card were made from


def install(torch: Any) -> None:
    global _torch, _handle_of, _set_boxed, _alias_boxed, _cpu_keys, _strided
    _torch = torch
    _handle_of = torch._C._construct_storage_from_data_pointer
    _set_boxed = torch.ops.aten.set_.source_Storage_storage_offset._handle.redispatch_boxed
    _alias_boxed = torch.ops.aten.alias.default._handle.redispatch_boxed
    _strided = torch.strided
    _cpu_keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)


def cpu_keys() -> Any:
    """Return the keys under which the CPU's kernel of an operator is called with tensors as they are."""
    return _cpu_keys


def host(tensor: Any) -> Any:
    """Return a tensor of the CPU over the memory of one on a card, with its sizes and strides."""
    handle = tensor.untyped_storage()
    dtype = tensor.dtype
    try:
        flat = handle._flat[dtype]
    except (AttributeError, KeyError):
        flat = _flat(handle, dtype)
    return flat.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())


def _flat(handle: Any, dtype: Any) -> Any:
    """Return an empty tensor over all of a storage; as_strided of it is the quickest way to any other."""
    if not hasattr(handle, "_host"):
        _attach(handle)
    with _torch.no_grad():
        flat = _torch.empty(0, dtype=dtype, device="cpu")
        flat.set_(handle._host, 0, (0,), (1,))
    handle._flat[dtype] = flat
    return flat


def _attach(handle: Any) -> None:
    """Give a storage that torch itself has made over the memory of a card, as it does to write a file, that memory."""
    if handle.device.type != "npu":
        raise AssertionError("a storage of %s is none of a card" % handle.device)
    handle._host = _handle_of(handle.data_ptr(), _torch.device("cpu"), handle.nbytes())
    handle._flat = {}


def part_of(storage: Any, size: int) -> Any:
    """Return the first bytes of a storage of the CPU as one of their own; the rest goes back to the system."""
    part = _handle_of(storage.data_ptr(), _torch.device("cpu"), size)
    part._whole = storage
    host_pages.give_back(storage.data_ptr() + size, storage.nbytes() - size)
    return part


def shared_host(handle: Any) -> Any:
    """Return the memory of a card's storage where other processes can have it too: moved there, if it was not."""
    if not hasattr(handle, "_host"):
        _attach(handle)
    if not handle._host.is_shared():
        # The address that the handle has stays good: the memory before is kept.
        handle._before, handle._host = handle._host, handle._host.clone().share_memory_()
        handle._flat.clear()
    return handle._host


def on_card(tensor: Any, index: int, *, is_input: bool = False, is_own: bool = False) -> Any:
    """Return a tensor on a card over the memory of a new one of the CPU; `is_input`: nothing of a card went into it;
    `is_own`: nothing else has this one, so that kernels may have it again. Raises NotImplementedError for one that is
    sparse, quantized or nested.
    """
    if tensor.layout is not _strided or tensor.is_quantized or tensor.is_nested:
        kind = "nested" if tensor.is_nested else "quantized" if tensor.is_quantized else tensor.layout
        raise NotImplementedError(NOT_STRIDED % kind)
    dtype = tensor.dtype
    cards.refuse_fork()
    seed = _seeds.get((index, dtype))
    result = _alias_boxed(_cpu_keys, _make_seed(index, dtype) if seed is None else seed)
    return _point(result, tensor, index, is_input, is_own)


def adopt(tensor: Any, source: Any) -> None:
    """Give a tensor on a card the memory, sizes and strides of one of the CPU: an operator has resized it."""
    _point(tensor, source, tensor.device.index)


def _point(tensor: Any, source: Any, index: int, is_input: bool = False, is_own: bool = False) -> Any:
    storage = source.untyped_storage()
    handle = new_handle(storage, index, is_input=is_input)
    if is_own and not (source.requires_grad or source.dtype.is_complex or source.is_neg()):
        handle._flat[source.dtype] = source
    _set_boxed(_cpu_keys, tensor, handle, source.storage_offset(), source.size(), source.stride())
    return tensor


def new_handle(storage: Any, index: int, *, is_input: bool = False) -> Any:
    """Return a storage of a card over the memory of one of the CPU."""
    size = storage.nbytes()
    handle = _handle_of(storage.data_ptr(), device(index), size)
    handle._host, handle._flat = storage, {}
    handle._block = memory.Block(index, size, is_input)
    return handle


def block_of(tensor: Any) -> Any:
    """Return the block of memory that a tensor of a card lies in; None for any other tensor."""
    try:
        return getattr(tensor.untyped_storage(), "_block", None)
    except (NotImplementedError, RuntimeError):  # a tensor without memory of its own
        return None


def device(index: int) -> Any:
    value = _devices.get(index)
    if value is None:
        value = _devices[index] = _torch.device("npu", index)
    return value


def _make_seed(index: int, dtype: Any) -> Any:
    """Make an empty tensor of a card, which others are made from."""
    first = _first(index)
    seed = _seeds[index, dtype] = _torch.ops.aten.view.dtype.redispatch(_cpu_keys, first, dtype)
    return seed


class _Device(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("index", ctypes.c_int))


class _Type(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p), ("device", _Device), ("dimensions", ctypes.c_int), ("dtype", _Type),
        ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
    )  # fmt: skip


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


def _first(index: int) -> Any:
    """Return the first tensor of a card. DLPack is the one way of torch in Python to one beyond npu:0; its device
    type 12 is kDLExtDev, which torch takes for PrivateUse1, and its type code 2 a float.
    """
    cards.initialize()
    sizes, memory_of_none = (ctypes.c_int64 * 1)(0), ctypes.create_string_buffer(8)
    managed = _Managed()
    tensor = managed.tensor
    tensor.data, tensor.device = ctypes.addressof(memory_of_none), _Device(12, index)
    tensor.dimensions, tensor.dtype = 1, _Type(2, 32, 1)
    tensor.shape, tensor.strides = ctypes.addressof(sizes), None
    _kept.append((managed, sizes, memory_of_none))
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return _torch.utils.dlpack.from_dlpack(make(ctypes.addressof(managed), b"dltensor", None))
