"""Which inputs of a call are parameters: a module names its own; of functions the positions are known."""

from __future__ import annotations

import re
from functools import lru_cache

from backends.precision.dump.dump import INPUT, PARAMETER

PARAMETER_INPUTS = (
    (re.compile("multi_head_attention"), ("5", "6", "11", "12")),
    (re.compile("embedding"), ("1", "weight")),
    (re.compile("linear|conv|dense"), ("1", "2", "weight", "bias")),
    (re.compile("layer_?norm|group_?norm|rms_?norm"), ("1", "2", "3", "weight", "bias")),
    (re.compile("batch_?norm|instance_?norm"), ("1", "2", "3", "4", "weight", "bias", "running_mean", "running_var")),
)


@lru_cache(maxsize=1 << 14)
def is_running_statistic(api: str, module: str, role: int, item: str) -> bool:
    """Whether an input is a running mean or variance: no optimizer updates it. `module`: as below."""
    is_norm = not module and role <= INPUT + 1 and re.search("batch_?norm|instance_?norm", api.lower()) is not None
    return is_norm and item in ("1", "2", "running_mean", "running_var")


@lru_cache(maxsize=1 << 14)
def is_parameter_input(api: str, module: str, role: int, item: str) -> bool:
    """Whether an input is a parameter. `module`: the class of a module, "" of a function."""
    if module or role > INPUT + 1:
        return role == PARAMETER
    return next((item in items for pattern, items in PARAMETER_INPUTS if pattern.search(api.lower())), False)
