"""Redirects every way in which torch is given a device. It runs once, when torch has been imported.

A torch.device stays what the script made of it: `device.type == "cuda"` holds, so that the script takes the path that
it would take beside a card. Where a device is used, it becomes the CPU.
"""

from __future__ import annotations

import functools
from importlib import import_module

from ascend_studio import hooks
from ascend_studio.rehearsal import amp, ranks, record, redirect, requested_devices, standins
from ascend_studio.virtual_npu.tensor_types import DTYPES

if False:
    from typing import Any

_real: Any = None


class _DeviceType(type):
    """A shim for torch.device, which is a final type: it only makes an index a device of the pretended kind."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _real)

    def __subclasscheck__(cls, subclass: Any) -> bool:
        return subclass is cls or issubclass(subclass, _real)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and redirect.is_index(args[0]):
            return _real(redirect.main_type(), args[0])
        return _real(*args, **kwargs)


class device(metaclass=_DeviceType):
    pass


def install(torch: Any, stance: str) -> None:
    _devices(torch)
    _factories(torch)
    _tensors(torch)
    _modules(torch)
    _files(torch)
    _loader()
    amp.install(torch)
    if getattr(torch, "distributed", None) is not None and torch.distributed.is_available():
        ranks.install(torch)
    if stance == "cuda":
        redirect.types.add("cuda")
        if redirect.has_npu():
            know_npu(torch)
        else:
            _know_accelerator(torch)
        _cuda(torch)


def know_npu(torch: Any) -> None:
    """Register npu as a device, but not before torch_npu is imported: without it torch has no such device on an NPU
    host either.
    """
    redirect.types.add("npu")
    torch.Tensor.npu, torch.nn.Module.npu = _itself("Tensor.npu"), _itself("Module.npu")
    torch.Tensor.is_npu = property(lambda _: False)  # as is_cuda: a tensor says where it is, on the CPU
    _know_accelerator(torch)


def _know_accelerator(torch: Any) -> None:
    if hasattr(torch, "accelerator"):
        _accelerator(torch)
    if hasattr(torch._C, "_get_accelerator"):  # by which torch itself asks: a renamed device without hooks is an error
        torch._C._get_accelerator = lambda *_: _real("cpu")


def _devices(torch: Any) -> None:
    global _real
    _real = torch.device
    device.__module__, device.__qualname__ = "torch", "device"
    torch.device = device
    context = import_module("torch.utils._device").DeviceContext  # torch.set_default_device, with torch.device(…)
    context.__init__ = redirect.with_any_device("torch.set_default_device", context.__init__)


def _factories(torch: Any) -> None:
    makers = set(import_module("torch.utils._device")._device_constructors())
    likes = {getattr(torch, name) for name in dir(torch) if name.endswith("_like")}
    builtins = import_module("torch.jit._builtins")
    for space, prefix in ((torch, "torch."), (torch.fft, "torch.fft.")):
        for name, original in list(vars(space).items()):
            if not callable(original) or not _is_in(original, makers | likes):
                continue
            changed = redirect.with_device_argument(prefix + name, original)
            operator = builtins._find_builtin(original)
            setattr(space, name, changed)
            if operator is not None:
                builtins._register_builtin(changed, operator)
    torch.Generator = _generator(torch.Generator)


def _is_in(candidate: Any, classes: Any) -> bool:
    try:
        return candidate in classes
    except TypeError:
        return False


def _generator(real: Any) -> Any:
    class Kind(type(real)):  # type: ignore[misc]
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, real)

    class Generator(real, metaclass=Kind):  # type: ignore[misc]
        def __new__(cls, device: Any = "cpu") -> Any:
            if redirect.is_redirected(device) or redirect.is_index(device):
                record.redirect("torch.Generator")
                requested_devices.note(None, device)
                device = "cpu"
            return real(device)

    Generator.__module__, Generator.__qualname__ = "torch", "Generator"
    return Generator


def _tensors(torch: Any) -> None:
    tensor = torch.Tensor
    tensor.to = redirect.with_any_device("Tensor.to", tensor.to)
    for name in ("new_zeros", "new_ones", "new_empty", "new_full", "new_tensor", "new_empty_strided"):
        setattr(tensor, name, redirect.with_device_argument("Tensor." + name, getattr(tensor, name)))
    tensor.pin_memory = _itself("Tensor.pin_memory")
    tensor.record_stream = redirect.counted("Tensor.record_stream", lambda *_: None, "\0")
    if record.stance == "cuda":
        tensor.cuda = _itself("Tensor.cuda")
        torch.UntypedStorage.cuda = _itself("UntypedStorage.cuda")
    tensor.type = _type(tensor.type)
    torch.set_default_tensor_type = _default_type(torch.set_default_tensor_type)
    if record.stance == "cuda":
        for name, dtype in DTYPES.items():
            setattr(torch.cuda, name + "Tensor", _tensor_type(torch, name + "Tensor", getattr(torch, dtype)))


def _itself(name: str) -> Any:
    def itself(self: Any, device: Any = None, *_args: Any, **_kwargs: Any) -> Any:
        record.redirect(name)
        if "pin" not in name:
            requested_devices.note(self, None if isinstance(device, bool) else device)
        return self

    itself.__name__ = itself.__qualname__ = name.rpartition(".")[2]
    return itself


def _type(original: Any) -> Any:
    @functools.wraps(original)
    def redirected(self: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
        return original(self, _on_cpu_type("Tensor.type", dtype), *args, **kwargs)

    return redirected


def _default_type(original: Any) -> Any:
    @functools.wraps(original)
    def redirected(kind: Any) -> Any:
        return original(_on_cpu_type("torch.set_default_tensor_type", kind))

    return redirected


def _tensor_type(torch: Any, name: str, dtype: Any) -> Any:
    """Return torch.cuda.FloatTensor or one of its siblings: it makes tensors, and answers isinstance by the dtype."""

    class Kind(type):
        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, torch.Tensor) and value.dtype is dtype

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            record.redirect("torch.cuda." + name)
            kwargs.pop("device", None)
            result = getattr(torch, name)(*args, **kwargs)
            requested_devices.note(result, "cuda")
            return result

    return Kind(name, (), {"__module__": "torch.cuda", "dtype": dtype})


def _on_cpu_type(name: str, kind: Any) -> Any:
    """torch.cuda.FloatTensor, as npu torch.npu.FloatTensor, or its name, is torch.FloatTensor here."""
    text = kind if isinstance(kind, str) else "%s.%s" % (getattr(kind, "__module__", ""), getattr(kind, "__name__", ""))
    prefix = "torch.%s." % record.stance
    if not text.startswith(prefix):
        return kind
    record.redirect(name)
    return "torch." + text[len(prefix) :]


def _modules(torch: Any) -> None:
    module = torch.nn.Module
    module.to = redirect.with_any_device("Module.to", module.to)
    module.to_empty = redirect.with_any_device("Module.to_empty", module.to_empty)
    if record.stance == "cuda":
        module.cuda = _itself("Module.cuda")
        _data_parallel(torch)


def _data_parallel(torch: Any) -> None:
    parallel = torch.nn.DataParallel

    def initialized(self: Any, module: Any, device_ids: Any = None, *_args: Any, **_kwargs: Any) -> None:
        record.redirect("DataParallel")
        for device in device_ids or range(redirect.devices()):
            requested_devices.note(None, device)
        torch.nn.Module.__init__(self)
        self.module, self.device_ids, self.dim, self.output_device = module, [], 0, None

    parallel.__init__ = initialized
    parallel.forward = lambda self, *args, **kwargs: self.module(*args, **kwargs)


def _files(torch: Any) -> None:
    """Read a storage that was saved on a device to the CPU, with or without map_location."""

    def read(storage: Any, location: str) -> Any:
        if not redirect.is_redirected(location):
            return None
        record.redirect("torch.load")
        requested_devices.note(None, location)
        return storage

    torch.serialization.register_package(1, lambda _storage: None, read)


def _loader() -> None:
    loader = import_module("torch.utils.data.dataloader").DataLoader
    original = loader.__init__

    @functools.wraps(original)
    def initialized(self: Any, *args: Any, **kwargs: Any) -> None:
        if kwargs.get("pin_memory") or kwargs.get("pin_memory_device"):
            record.redirect("DataLoader(pin_memory)")
            kwargs["pin_memory"] = False
            kwargs.pop("pin_memory_device", None)
        original(self, *args, **kwargs)

    loader.__init__ = initialized


def _accelerator(torch: Any) -> None:
    """Make torch.accelerator answer for the pretended device."""
    functions = standins.functions(torch, "accelerator")
    functions["current_accelerator"] = _current(torch)
    for new, old in (
        ("current_device_index", "current_device"), ("current_device_idx", "current_device"),
        ("set_device_index", "set_device"), ("set_device_idx", "set_device"), ("get_memory_info", "mem_get_info"),
    ):  # fmt: skip
        functions[new] = redirect.counted("torch.accelerator." + new, functions[old], "\0")
    for name in dir(torch.accelerator):
        if name in functions:
            setattr(torch.accelerator, name, functions[name])
    if hasattr(torch.accelerator, "device_index"):
        torch.accelerator.device_index = standins.classes("accelerator")["device"]
    if hasattr(torch, "get_device_module"):
        torch.get_device_module = _device_module(torch)


def _current(torch: Any) -> Any:
    library = standins.redirect_library(torch)

    def current_accelerator(check_available: bool = False) -> Any:
        return _real(redirect.main_type())

    return redirect.counted("torch.accelerator.current_accelerator", current_accelerator, library)


def _device_module(torch: Any) -> Any:
    original = torch.get_device_module

    @functools.wraps(original)
    def get_device_module(device: Any = None) -> Any:
        return getattr(torch, redirect.main_type()) if device is None else original(device)

    return get_device_module


def _cuda(torch: Any) -> None:
    cuda = torch.cuda
    for name, stand_in in (*standins.functions(torch, "cuda").items(), *standins.classes("cuda").items()):
        setattr(cuda, name, stand_in)
    for name in ("random", "memory", "streams"):
        inner = getattr(cuda, name, None)
        for attribute in dir(inner):
            if not attribute.startswith("_") and attribute in standins.NOTHING + standins.NONE_USED:
                setattr(inner, attribute, getattr(cuda, attribute))
    for name in standins.Nvtx.__dict__:
        if not name.startswith("_") and hasattr(cuda.nvtx, name):
            setattr(cuda.nvtx, name, redirect.counted("torch.cuda.nvtx." + name, getattr(standins.Nvtx, name), "\0"))
    cuda.nccl.version = redirect.counted("torch.cuda.nccl.version", lambda: (2, 21, 5), "\0")
    cuda.nccl.is_available = redirect.counted("torch.cuda.nccl.is_available", lambda *_: True, "\0")
    hooks.after_import("torch.distributed.fsdp", ranks.fully_sharded)
