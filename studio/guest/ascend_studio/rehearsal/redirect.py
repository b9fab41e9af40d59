"""What counts as an absent device, and what replaces it."""

from __future__ import annotations

import functools
import os
import sys

from ascend_studio.rehearsal import record, requested_devices

if False:
    from typing import Any, Callable, Dict, Set, Tuple

types: Set[str] = set()
"""The device types that are redirected to the CPU."""
transferred = False
"""Whether a script that runs as npu has imported transfer_to_npu."""
DEVICES = "ASCEND_STUDIO_REHEARSAL_DEVICES"
NPU = "ASCEND_STUDIO_REHEARSAL_NPU"
_GUEST = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_CONTRACT = os.path.join(_GUEST, "contract", "")
_DEVICE_ARGUMENTS = ("device", "device_type", "map_location", "device_id")


def devices() -> int:
    """Return how many devices the host pretends to have: at least one for each process of a launcher."""
    return max(1, *(int(os.environ.get(name) or 1) for name in (DEVICES, "LOCAL_WORLD_SIZE")))


def has_npu() -> bool:
    """Return whether an NPU is pretended. As cuda, what was written for an NPU runs too, unless the host is to have
    CUDA alone.
    """
    return record.stance == "npu" or (record.stance == "cuda" and os.environ.get(NPU, "") != "no")


def main_type() -> str:
    """Return the device type that torch.accelerator reports."""
    return "npu" if record.stance == "npu" else "cuda"


def is_redirected(value: Any) -> bool:
    kind = value if isinstance(value, str) else getattr(value, "type", "")
    return isinstance(kind, str) and kind.partition(":")[0] in types


def is_index(value: Any) -> bool:
    """Return whether a value is an index: torch.Tensor.to(0) and device=0 mean the accelerator."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_from(frame: Any, library: str) -> bool:
    return str(frame.f_code.co_filename).startswith(library)


def caller() -> Any:
    """Return the frame that called a stand-in, past what records contracts."""
    frame: Any = sys._getframe(2)
    while frame.f_code.co_filename.startswith(_CONTRACT):
        frame = frame.f_back
    return frame


def counted(name: str, do: Callable[..., Any], library: str) -> Callable[..., Any]:
    """Return a stand-in, a new function each time: torch's compiler tells functions apart by identity. Calls by torch
    itself, or by this guest, do not count.
    """

    def stand_in(*args: Any, **kwargs: Any) -> Any:
        frame = caller()
        if not is_from(frame, library) and not is_from(frame, _GUEST):
            record.redirect(name)
        return do(*args, **kwargs)

    stand_in.__name__ = stand_in.__qualname__ = name.rpartition(".")[2]
    return stand_in


def with_device_argument(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """Return `original` with its device= on the CPU, and memory that is not pinned."""

    @functools.wraps(original)
    def redirected(*args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device")
        is_changed = device is not None and (is_index(device) or is_redirected(device))
        if is_changed:
            kwargs["device"] = "cpu"
            record.redirect(name)
        if kwargs.get("pin_memory"):
            kwargs["pin_memory"] = False
        result = original(*args, **kwargs)
        if is_changed:
            requested_devices.note(result, device)
        return result

    return redirected


def with_any_device(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method such as Tensor.to, whose device may stand at any position or be an index at the first, on the
    CPU.
    """

    @functools.wraps(original)
    def redirected(self: Any, *args: Any, **kwargs: Any) -> Any:
        device = device_in(args, kwargs)
        if device is None:
            return original(self, *args, **kwargs)
        args, _ = on_cpu(args)
        keywords_on_cpu(kwargs)
        record.redirect(name)
        result = original(self, *args, **kwargs)
        requested_devices.note(result, device)
        return result

    return redirected


def device_in(args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    """Return the first argument that is redirected, None where there is none."""
    for index, value in enumerate(args):
        if is_redirected(value) or (not index and is_index(value)):
            return value
    named = [kwargs.get(name) for name in _DEVICE_ARGUMENTS]
    return next((value for value in named if value is not None and (is_redirected(value) or is_index(value))), None)


def on_cpu(args: Tuple[Any, ...]) -> Tuple[Tuple[Any, ...], bool]:
    redirected = [is_redirected(value) or (not index and is_index(value)) for index, value in enumerate(args)]
    if not any(redirected):
        return args, False
    return tuple("cpu" if redirected[place] else value for place, value in enumerate(args)), True


def keywords_on_cpu(kwargs: Dict[str, Any]) -> bool:
    changed = False
    for name in _DEVICE_ARGUMENTS:
        value = kwargs.get(name)
        if value is not None and (is_redirected(value) or is_index(value)):
            kwargs[name], changed = "cpu", True
    return changed
