"""Stand-ins for torch.cuda and torch.npu: one device that is the CPU, whose work is done when a call returns."""

from __future__ import annotations

import collections
import contextlib
import os
import time

from ascend_studio.rehearsal import redirect, requested_devices

if False:
    from typing import Any, Callable, Dict

MEMORY = 64 << 30  # bytes, as a card would have
NAME = "CPU (rehearsal)"
NOTHING = (
    "set_device", "synchronize", "empty_cache", "init", "_lazy_init", "set_stream", "reset_peak_memory_stats",
    "ipc_collect", "seed", "seed_all", "reset_max_memory_allocated", "reset_max_memory_cached",
    "reset_accumulated_memory_stats", "manual_seed", "manual_seed_all", "set_rng_state", "set_rng_state_all",
    "set_per_process_memory_fraction", "set_sync_debug_mode", "host_empty_cache",
)  # fmt: skip
NONE_USED = (
    "memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved", "memory_cached",
    "max_memory_cached", "utilization", "temperature", "power_draw", "clock_rate", "get_sync_debug_mode",
    "memory_usage", "device_memory_used",
)  # fmt: skip


class Properties:
    """The properties of the pretended device."""

    name = NAME
    major, minor = 8, 0
    total_memory = MEMORY
    multi_processor_count = 1
    warp_size = 32
    is_integrated = False


class Stream:
    """A stream whose work is always done."""

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        self.cuda_stream = self.npu_stream = self.stream_id = self.device_index = 0
        self.priority = 0

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_error: Any) -> None:
        pass

    def wait_stream(self, stream: Any) -> None:
        pass

    def wait_event(self, event: Any) -> None:
        pass

    def synchronize(self) -> None:
        pass

    def query(self) -> bool:
        return True

    def is_capturing(self) -> bool:
        return False

    def record_event(self, event: Any = None) -> Any:
        event = Event() if event is None else event
        event.record()
        return event


class Event:
    """An event with times of the host's clock, in ms."""

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        self.time = 0.0

    def record(self, stream: Any = None) -> None:
        self.time = time.perf_counter()

    def wait(self, stream: Any = None) -> None:
        pass

    def synchronize(self) -> None:
        pass

    def query(self) -> bool:
        return True

    def elapsed_time(self, end: Any) -> float:
        return float(end.time - self.time) * 1e3


class Device(contextlib.ContextDecorator):
    """`with torch.cuda.device(…)`: there is one."""

    def __init__(self, device: Any = None) -> None:
        self.idx = 0
        self._chosen, self._before = requested_devices.resolved(device), ""

    def __enter__(self) -> Device:
        self._before = requested_devices.resolved(None)
        if self._chosen:
            requested_devices.select(self._chosen)
        return self

    def __exit__(self, *_error: Any) -> None:
        requested_devices.select(self._before)


class Nvtx:
    """torch.cuda.nvtx: marks for a profiler, which is absent here."""

    range_push = range_pop = mark = range_start = range_end = staticmethod(lambda *_args, **_kwargs: 0)
    range = staticmethod(lambda *_args, **_kwargs: contextlib.nullcontext())


def classes(kind: str) -> Dict[str, Any]:
    """Return new types for each module: torch's compiler takes one type under two names for a mistake."""
    bases = {"Stream": Stream, "ExternalStream": Stream, "Event": Event, "device": Device, "device_of": Device}
    module = {"__module__": "torch." + kind}
    return {name: type(name, (base,), dict(module)) for name, base in bases.items()}


def functions(torch: Any, kind: str) -> Dict[str, Callable[..., Any]]:
    """Return new functions, by their names in torch.cuda or torch.npu."""
    stream = classes(kind)["Stream"]()
    plain: Dict[str, Callable[..., Any]] = {
        "is_available": lambda *_: True,
        "is_initialized": lambda: True,
        "_is_in_bad_fork": lambda: False,
        "device_count": redirect.devices,
        "current_device": lambda: int(os.environ.get("LOCAL_RANK") or 0),
        "get_device_name": lambda *_, **__: NAME,
        "get_device_properties": lambda *_, **__: Properties(),
        "get_device_capability": lambda *_, **__: (8, 0),
        "get_arch_list": lambda: ["sm_80"],
        "can_device_access_peer": lambda *_: True,
        "is_bf16_supported": lambda *_, **__: True,
        "is_current_stream_capturing": lambda: False,
        "mem_get_info": lambda *_, **__: (MEMORY, MEMORY),
        "memory_stats": lambda *_, **__: collections.defaultdict(int),
        "memory_summary": lambda *_, **__: NAME,
        "memory_snapshot": lambda *_, **__: [],
        "list_gpu_processes": lambda *_, **__: NAME,
        "get_rng_state": lambda *_, **__: torch.get_rng_state(),
        "get_rng_state_all": lambda: [torch.get_rng_state()],
        "initial_seed": lambda: torch.initial_seed(),
        "current_stream": lambda *_, **__: stream,
        "default_stream": lambda *_, **__: stream,
        "stream": lambda stream_=None: contextlib.nullcontext(stream_),
        "is_autocast_enabled": lambda: torch.is_autocast_enabled("cpu"),
        "get_autocast_dtype": lambda: torch.get_autocast_dtype("cpu"),
        "get_amp_supported_dtype": lambda: [torch.float16, torch.bfloat16, torch.float32],
    }
    # set_rng_state and the seeds leave the CPU's own generator alone: it has the state that the script gave it.
    plain.update({name: _nothing() for name in NOTHING})
    plain.update({name: _none_used() for name in NONE_USED})
    library = redirect_library(torch)
    return {name: redirect.counted("torch.%s.%s" % (kind, name), do, library) for name, do in plain.items()}


def redirect_library(torch: Any) -> str:
    return os.path.join(os.path.dirname(os.path.abspath(torch.__file__)), "")


def _nothing() -> Callable[..., Any]:
    return lambda *_args, **_kwargs: None


def _none_used() -> Callable[..., Any]:
    return lambda *_args, **_kwargs: 0
