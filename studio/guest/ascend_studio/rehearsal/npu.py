"""A stand-in for torch_npu, and the torch of an NPU host, which has no CUDA.

transfer_to_npu.json holds what transfer_to_npu covers, read from the source of the wheel that it names.
"""

from __future__ import annotations

import functools
import importlib.machinery
import json
import os
from importlib import import_module

from ascend_studio import contract, fused
from ascend_studio.recording import Undumped
from ascend_studio.rehearsal import devices, npu_parts, ranks, record, redirect, standins, virtual

if False:
    from types import ModuleType
    from typing import Any, Callable, Dict, Optional

stance = ""
NOT_COMPILED = "Torch not compiled with CUDA enabled"
NO_STAND_IN = "%s has no stand-in in a rehearsal: it is a part of torch_npu that only a host with an NPU can import"
NO_HOST_KERNEL = "Could not run 'npu::%s' with arguments from the 'CPU' backend."
_PACKAGES = ("torch_npu", "torch_npu.npu", "torch_npu.contrib")


@functools.lru_cache(maxsize=None)
def facts() -> Any:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "transfer_to_npu.json")
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def spec_of(name: str) -> Optional[importlib.machinery.ModuleSpec]:
    if not redirect.has_npu():
        return _hidden(name)
    if name not in _FILL:
        message = NO_STAND_IN % name
        record.block(name, message, "unknown")
        return importlib.machinery.ModuleSpec(name, _Refusing(message))  # type: ignore[arg-type]
    return importlib.machinery.ModuleSpec(name, _Loader(), is_package=name in _PACKAGES)  # type: ignore[arg-type]


def _hidden(name: str) -> Optional[importlib.machinery.ModuleSpec]:
    """Nothing, and of a torch_npu that is installed something that cannot be imported."""
    spec = importlib.machinery.PathFinder.find_spec(name)
    refusing = _Refusing("No module named %r" % name)
    return None if spec is None else importlib.machinery.ModuleSpec(name, refusing)  # type: ignore[arg-type]


class _Refusing:
    """A loader of a module that is not to be had."""

    def __init__(self, message: str) -> None:
        self.message = message

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        raise ModuleNotFoundError(self.message, name=spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


class _Loader:
    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        _FILL[module.__name__](module, import_module("torch"))
        module.__dict__.setdefault("__getattr__", _missing(module))


def _missing(module: ModuleType) -> Callable[[str], Any]:
    def no_stand_in(name: str) -> Any:
        message = "module %r has no attribute %r in a rehearsal on the CPU" % (module.__name__, name)
        if not name.startswith("_") and module.__name__ + "." + name not in _FILL:
            record.block(module.__name__ + "." + name, message, "unknown")
        raise AttributeError(message)

    return no_stand_in


def _torch_npu(module: Any, torch: Any) -> None:
    module.__version__ = facts()["version"]
    if virtual.is_on():
        module.npu = import_module("torch_npu.npu")
        virtual.install(torch, module.npu)
    else:
        _redirected(module, torch)
    torch.npu.amp = module.npu.amp = import_module("torch_npu.npu.amp")
    module.profiler = import_module("torch_npu.profiler")
    module.optim = import_module("torch_npu.optim")
    module.Format = fused.layouts.Format
    library = standins.redirect_library(torch)
    for name, formula in fused.operators(torch).items():
        call = _as_one_call(formula)
        if virtual.is_on():
            call = _for_cards(torch, name, call)
        setattr(module, name, redirect.counted("torch_npu." + name, call, library))
    contract.follow_npu(torch)
    setting = os.environ.get("TORCH_TRANSFER_TO_NPU", "0")
    if setting == "1":
        import_module("torch_npu.contrib.transfer_to_npu")
    elif setting != "0":
        reason = "Invalid value for TORCH_TRANSFER_TO_NPU: %s. Only '0' or '1' is supported."
        raise ValueError(reason % setting)


def _as_one_call(formula: Callable[..., Any]) -> Callable[..., Any]:
    """Keep the operators of a formula out of a dump: on a card they are one kernel."""

    @functools.wraps(formula)
    def call(*args: Any, **kwargs: Any) -> Any:
        with Undumped():
            return formula(*args, **kwargs)

    return call


def _for_cards(torch: Any, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """Refuse tensors that are all on the host, in torch's words: these operators are registered for NPUs alone."""

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)]
        if tensors and all([tensor.device.type == "cpu" for tensor in tensors]):
            raise NotImplementedError(NO_HOST_KERNEL % name)
        return original(*args, **kwargs)

    return call


def _redirected(module: Any, torch: Any) -> None:
    torch.utils.rename_privateuse1_backend("npu")
    module.npu = import_module("torch_npu.npu")
    if stance == "npu":
        devices.know_npu(torch)
    torch._register_device_module("npu", module.npu)
    if torch.distributed.is_available():
        ranks.know_hccl(torch)


def _npu(module: Any, torch: Any) -> None:
    members: Dict[str, Any] = {**standins.functions(torch, "npu"), **standins.classes("npu")}
    own = virtual.members(torch) if virtual.is_on() else {}
    members.update(own)
    for name in facts()["cuda"]:
        if name in members:
            setattr(module, name, members[name])
        elif name.startswith(("set_", "reset_", "init_", "finalize_", "clear_", "empty_")):
            setattr(module, name, redirect.counted("torch.npu." + name, lambda *_args, **_kwargs: None, "\0"))
        elif name.endswith("Tensor") and hasattr(torch, name):
            setattr(module, name, getattr(torch, name))
    npu_parts.fill(module, torch, members, own)
    module._is_in_bad_fork = members["_is_in_bad_fork"]  # torch.manual_seed asks for it


def _amp(module: Any, torch: Any) -> None:
    class autocast(torch.amp.autocast):  # type: ignore[misc]
        def __init__(
            self, enabled: bool = True, dtype: Any = torch.float16, cache_enabled: bool = True, **kwargs: Any
        ) -> None:
            super().__init__("npu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)

    class GradScaler(torch.amp.GradScaler):  # type: ignore[misc]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            kwargs.pop("dynamic", None)
            super().__init__("npu", *args, **kwargs)

    module.autocast, module.GradScaler = autocast, GradScaler
    kind = "npu" if virtual.is_on() else "cpu"
    module.custom_fwd = functools.partial(torch.amp.custom_fwd, device_type=kind)
    module.custom_bwd = functools.partial(torch.amp.custom_bwd, device_type=kind)


class _Choices(type):
    """A stand-in for the enumerations ProfilerLevel, AiCMetrics and ExportType: nothing here depends on their
    members."""

    def __getattr__(cls, name: str) -> str:
        if name.startswith("__"):
            raise AttributeError(name)
        return name


def _profiler(module: Any, torch: Any) -> None:
    profiler = torch.profiler
    cpu = profiler.ProfilerActivity.CPU

    def profile(*_args: Any, **kwargs: Any) -> Any:
        record.redirect("torch_npu.profiler.profile")
        kwargs["activities"] = [cpu]
        kwargs.pop("experimental_config", None)
        return profiler.profile(**kwargs)

    module.profile = profile
    module.schedule, module.ProfilerAction = profiler.schedule, profiler.ProfilerAction
    module.tensorboard_trace_handler = profiler.tensorboard_trace_handler
    module.ProfilerActivity = type("ProfilerActivity", (), {"CPU": cpu, "NPU": cpu})
    module._ExperimentalConfig = lambda *_args, **_kwargs: None
    for name in ("ProfilerLevel", "AiCMetrics", "ExportType", "HostSystem"):
        setattr(module, name, _Choices(name, (), {}))


def _optim(module: Any, torch: Any) -> None:
    from ascend_studio.fused import optimizers

    for name, optimizer in optimizers.classes(torch).items():
        setattr(module, name, optimizer)


def _nothing(_module: Any, _torch: Any) -> None:
    pass


def _transfer(module: Any, torch: Any) -> None:
    """Do what the real transfer_to_npu does, by the names in its source. As cuda everything is redirected anyway."""
    import_module("torch_npu")
    record.redirect("transfer_to_npu")
    if stance != "npu":
        return
    redirect.transferred = True
    for name in facts()["cuda"]:
        if name in torch.npu.__dict__:
            setattr(torch.cuda, name, getattr(torch.npu, name))
    for name in facts()["amp"]:
        setattr(torch.cuda.amp, name, getattr(torch.npu.amp, name))
    for path in (one for one in facts()["device"] if not one.startswith("torch.npu.")):
        _wrap(torch, path, _for_npu)
    for path in facts()["backend"]:
        _wrap(torch, path, _for_hccl)
    torch.Tensor.cuda, torch.nn.Module.cuda = torch.Tensor.npu, torch.nn.Module.npu
    torch.distributed.is_nccl_available = lambda: True
    torch.is_autocast_enabled = _of_npu(torch.is_autocast_enabled)
    torch.get_autocast_gpu_dtype = torch.npu.get_autocast_dtype
    if virtual.is_on():
        virtual.transfer(torch)
    else:
        torch.Generator = _generator(torch.Generator)
    torch.cuda.DoubleTensor = torch.npu.FloatTensor
    torch.jit.script = lambda obj, *_args, **_kwargs: obj
    torch.jit.script_method = lambda method: method


def _wrap(torch: Any, path: str, wrapper: Callable[[Any], Any]) -> None:
    """Replace what stands at a dotted path; a path that this torch lacks, or has not imported, is passed over."""
    words = path.split(".")[1:]
    owner: Any = torch
    for word in words[:-1]:
        owner = getattr(owner, word, None)
    original = None if owner is None else getattr(owner, words[-1], None)
    if original is not None:
        setattr(owner, words[-1], wrapper(original))


def _for_npu(original: Any) -> Any:
    @functools.wraps(original)
    def transferred(*args: Any, **kwargs: Any) -> Any:
        for name in facts()["arguments"]:
            if kwargs.get(name) is not None:
                kwargs[name] = _as_npu(kwargs[name])
        return original(*[_as_npu(value) for value in args], **kwargs)

    return transferred


def _as_npu(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("cuda", "npu")
    if isinstance(value, dict):
        return {_as_npu(key) if isinstance(key, str) else key: _as_npu_text(item) for key, item in value.items()}
    if getattr(value, "type", None) == "cuda" and type(value).__name__ == "device":
        return type(value)("npu") if value.index is None else type(value)("npu", value.index)
    return value


def _as_npu_text(value: Any) -> Any:
    return _as_npu(value) if isinstance(value, str) else value


def _for_hccl(original: Any) -> Any:
    def hccl(value: Any) -> Any:
        return value.replace("nccl", "hccl").replace("cuda", "npu") if isinstance(value, str) else value

    @functools.wraps(original)
    def transferred(*args: Any, **kwargs: Any) -> Any:
        if "backend" in kwargs:
            kwargs["backend"] = hccl(kwargs["backend"])
        return original(*[hccl(value) for value in args], **kwargs)

    return transferred


def _of_npu(original: Any) -> Any:
    @functools.wraps(original)
    def is_autocast_enabled(device_type: Any = None) -> Any:
        return original("npu" if device_type is None else _as_npu(device_type))

    return is_autocast_enabled


def _generator(redirected: Any) -> Any:
    class Generator(redirected):  # type: ignore[misc]
        def __new__(cls, device: Any = "cpu") -> Any:
            return redirected(_as_npu(device))

    Generator.__module__, Generator.__qualname__ = "torch", "Generator"
    return Generator


_FILL: Dict[str, Callable[[Any, Any], None]] = {
    "torch_npu": _torch_npu,
    "torch_npu.npu": _npu,
    "torch_npu.npu.amp": _amp,
    "torch_npu.profiler": _profiler,
    "torch_npu.optim": _optim,
    "torch_npu.contrib": _nothing,
    "torch_npu.contrib.transfer_to_npu": _transfer,
}


def refuse_cuda(torch: Any) -> None:
    """Refuse CUDA: the torch of an NPU host was built without it, whatever this one was built with."""
    cuda = torch.cuda
    library = standins.redirect_library(torch)

    def _lazy_init() -> None:
        record.block("torch.cuda", NOT_COMPILED, "raised")
        raise AssertionError(NOT_COMPILED)

    cuda._lazy_init = _lazy_init
    torch.version.cuda = None
    if hasattr(torch._C, "_has_cuda"):
        torch._C._has_cuda = False
    if hasattr(torch._C, "_cuda_getDeviceCount"):
        del torch._C._cuda_getDeviceCount
    for name in ("manual_seed", "manual_seed_all", "seed", "seed_all", "empty_cache"):
        setattr(cuda, name, _reporting(torch, name, "ignored", library))
    for name in ("is_available", "device_count"):
        setattr(cuda, name, _reporting(torch, name, "asked", library))


def _reporting(torch: Any, name: str, kind: str, library: str) -> Callable[..., Any]:
    original = getattr(torch.cuda, name)

    @functools.wraps(original)
    def reporting(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        if not redirect.is_from(redirect.caller(), library):
            record.block("torch.cuda." + name, "torch.cuda.%s() -> %s" % (name, result), kind)
        return result

    return reporting
