"""The device that a training with PyTorch runs on."""

from __future__ import annotations

import importlib
import importlib.util

import torch

from ascend_engine.failures import Failure, first_line
from ascend_engine.npu import NpuCall, do

IS_AVAILABLE = NpuCall("torch_npu.npu", "is_available", {})
SET_DEVICE = NpuCall("torch_npu.npu", "set_device", {}, ("device",))
AUTO = "auto"
CPU, ASCEND, VIRTUAL_NPU = "cpu", "ascend", "virtual_npu"


def select(device: str, local_rank: int = 0) -> tuple[str, torch.device]:
    """ "cpu", "ascend" or "virtual_npu" for one of these or "auto", and torch's own device. The virtual NPU stands
    where torch_npu would, and is never taken for one.

    Raises Failure `launch.torch_device_unavailable` where an asked-for NPU cannot be used.
    """
    if device != CPU:
        reason = unavailable_reason()
        if not reason:
            chosen = torch.device("npu", local_rank)
            do(SET_DEVICE, chosen)
            return (VIRTUAL_NPU if device == VIRTUAL_NPU else ASCEND), chosen
        if device != AUTO:
            raise Failure("launch.torch_device_unavailable", device=device, reason=reason)
    return CPU, torch.device(CPU)


def unavailable_reason() -> str:
    """Why no NPU can be used; "" where one can."""
    if importlib.util.find_spec("torch_npu") is None:
        return "torch_npu is not installed"
    try:
        importlib.import_module("torch_npu")
        return "" if do(IS_AVAILABLE) else "torch_npu finds no NPU"
    except (ImportError, OSError, RuntimeError) as error:
        return first_line(error)
