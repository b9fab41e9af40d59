"""The parts of torch.npu that torch.cuda lacks or has in another form, by the source of the wheel that
transfer_to_npu.json names.
"""

from __future__ import annotations

import collections
import os
import re
import types

from ascend_studio.rehearsal import redirect, standins

if False:
    from typing import Any, Callable, Dict, Optional, Tuple

CAPABILITY = "TORCH_NPU_DEVICE_CAPABILITY"
NOT_BOOL = "allow_hf32 must be a bool, but got %s"


class Properties:
    """The names that libtorch_npu.so binds to _NPUDeviceProperties. Those of CUDA are optional there: an NPU has no
    such numbers, and a script that computes with them fails on one.
    """

    name = standins.NAME
    total_memory = standins.MEMORY
    cube_core_num = 1
    vector_core_num = 2
    L2_cache_size = 1 << 20
    major = minor = is_multi_gpu_board = is_integrated = multi_processor_count = None
    max_threads_per_multi_processor = warp_size = regs_per_multiprocessor = gcnArchName = uuid = None


def capability(device: Any = None) -> Optional[Tuple[int, int]]:
    """Return what the user has set, and None without that: an NPU has no such number."""
    match = re.match(r"^(\d+)\.(\d+)$", os.environ.get(CAPABILITY, ""))
    return (int(match.group(1)), int(match.group(2))) if match else None


class mstx:
    """Marks for a profiler, which is absent here."""

    @staticmethod
    def mark(message: str, stream: Any = None, domain: str = "default") -> None:
        pass

    @staticmethod
    def range_push(message: str, stream: Any = None, domain: str = "default") -> int:
        return 0

    @staticmethod
    def range_pop(domain: str = "default") -> int:
        return 0

    @staticmethod
    def range_start(message: str, stream: Any = None, domain: str = "default") -> int:
        return 0

    @staticmethod
    def range_end(range_id: int, domain: str = "default") -> None:
        pass

    @staticmethod
    def mstx_range(message: str, stream: Any = None, domain: str = "default") -> Callable[..., Any]:
        return lambda function: function


class Settings:
    """torch.npu.config, .matmul and .conv: they accept any setting, and know allow_hf32."""

    def __init__(self, allow_hf32: Optional[bool] = None) -> None:
        object.__setattr__(self, "known", {"allow_hf32": allow_hf32})

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "allow_hf32" and not isinstance(value, bool):
            raise TypeError(NOT_BOOL % type(value).__name__)
        self.known[name] = value

    def __getattr__(self, name: str) -> Any:
        return self.known.get(name)


def fill(module: Any, torch: Any, members: Dict[str, Any], own: Dict[str, Any]) -> None:
    """`members`: the stand-ins that torch.cuda and torch.npu share; `own`: of the virtual NPU, before all others."""
    answers: Dict[str, Callable[..., Any]] = {
        "get_device_capability": capability,
        "get_device_properties": lambda *_, **__: Properties(),
        "get_per_process_memory_fraction": lambda *_, **__: 1.0,
        "get_allocator_backend": lambda: "native",
        "get_task_queue_enable": lambda: 1,
        "get_mm_bmm_format_nd": lambda: True,
        "is_jit_compile_false": lambda: True,
        "are_compatible_impl_enabled": lambda: False,
        "memory_stats_as_nested_dict": lambda *_, **__: collections.defaultdict(dict),
        "host_memory_stats": lambda: collections.defaultdict(int),
        "host_memory_stats_as_nested_dict": lambda: collections.defaultdict(dict),
    }
    for name, do in answers.items():
        counted = redirect.counted("torch.npu." + name, do, standins.redirect_library(torch))
        setattr(module, name, own.get(name) or counted)
    module.mstx = mstx
    module.config, module.matmul, module.conv = Settings(), Settings(False), Settings(True)
    module.StreamContext = members["device"]
    shared = {name: getattr(module, name) for name in members if hasattr(module, name)}
    module.memory = module.random = module.streams = types.SimpleNamespace(**shared)
