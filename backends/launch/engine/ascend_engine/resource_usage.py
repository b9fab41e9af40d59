"""What this process has used so far, as the kernel counts it (proc(5)), and on its card, as the framework
does."""

from __future__ import annotations

import os
import time
from pathlib import Path

from ascend_engine.npu import NpuCall, do

PEAK_ON_CARD = {
    "mindspore": NpuCall("mindspore.runtime", "max_memory_allocated", {}),
    "torch": NpuCall("torch_npu.npu", "max_memory_allocated", {}),
}


def peak_memory() -> int:
    """The most bytes that were resident at once; 0 where the kernel does not tell."""
    try:
        lines = Path("/proc/self/status").read_text("ascii", "replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def peak_on_card(device: str, framework: str) -> int:
    """The most bytes that tensors took on the card at once; 0 where there is none, also for a virtual one."""
    return int(do(PEAK_ON_CARD[framework])) if device == "ascend" else 0


def age() -> float:
    """Seconds since the process began, its imports included; 0 where the kernel does not tell."""
    try:
        stat = Path("/proc/self/stat").read_text("ascii", "replace")
    except OSError:
        return 0.0
    ticks = int(stat.rpartition(")")[2].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
