"""How the functions of a step are run: operator by operator, or compiled."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import mindspore as ms
from mindspore import nn

from ascend_engine.failures import Failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from ascend_engine.options import Config


class Whole(nn.Cell):
    """A function as a Cell, which graph mode compiles where it is called."""

    def __init__(self, function: Callable):
        super().__init__(auto_prefix=False)
        self.function = function

    def construct(self, *inputs):
        return self.function(*inputs)


def check(config: Config, device: str) -> None:
    """Raises Failure for what MindSpore would refuse later with less of a reason, or take and
    not do. `device`: the one in use."""
    if device == "cpu" and config.amp != "O0" and config.amp_dtype == "bf16":
        raise Failure("launch.no_bf16")
    if config.jit_level == "O2" and (device == "cpu" or config.mode != "graph"):
        raise Failure("launch.no_o2")
    if config.sink and (device == "cpu" or config.mode != "graph"):
        raise Failure("launch.no_sink")
    if config.recompute and config.amp == "O1":
        raise Failure("launch.no_recompute_o1")


def enter(config: Config) -> None:
    """With jit, PyNative is the mode of everything around the compiled step."""
    ms.set_context(mode=ms.GRAPH_MODE if config.mode == "graph" else ms.PYNATIVE_MODE)
    if config.mode == "graph" and config.jit_level:
        ms.set_context(jit_config={"jit_level": config.jit_level})


def preparation(config: Config) -> Callable[[Callable], Callable]:
    """What to do with each function of the step, or with the Cell that is the step, before it is called.

    capture_mode is always "ast". Measured with MindSpore 2.10: "trace" trains wrongly, and so does
    "bytecode", which loses what a step writes into Parameters (sums of gradients are never
    cleared, the norm read back is 0).
    """
    as_cell = config.loop != "functional"
    if config.mode == "graph" and not as_cell:
        return Whole
    if config.mode == "jit":
        return partial(_jit_cell if as_cell else _jit, config.jit_level)
    return _as_it_is


def _jit(level: str, function: Callable) -> Callable:
    return ms.jit(function, capture_mode="ast", jit_level=level) if level else ms.jit(function)


def _jit_cell(level: str, cell: nn.Cell) -> nn.Cell:
    """As a decorator of its construct does; the Cell stays one, for Model."""
    cell.construct = _jit(level, cell.construct)
    return cell


def _as_it_is(function: Callable) -> Callable:
    return function
