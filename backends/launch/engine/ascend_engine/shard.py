"""Shard strategies: into how many parts each input of an operator is cut, along each of its dimensions.

An own recipe takes them in the same way as recipe dense: `sharded(ops.MatMul(), "matmul1", strategies(config, NAMES))`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascend_engine.failures import Failure
from ascend_engine.npu import NpuCall, do

if TYPE_CHECKING:
    from mindspore.ops import Primitive

    from ascend_engine.options import Config

Strategy = tuple[tuple[int, ...], ...]


def strategies(config: Config, operators: tuple[str, ...]) -> dict[str, Strategy]:
    """The options' strategies by operator. Raises Failure for one that cannot be read, and for an operator that the
    recipe does not have."""
    chosen = dict(read(text) for text in config.strategy)
    for name in chosen:
        if name not in operators:
            raise Failure("launch.rule.no_operator", operator=name, operators=", ".join(operators))
    return chosen


def read(text: str) -> tuple[str, Strategy]:
    """ "matmul1=2x1,1x4" as ("matmul1", ((2, 1), (1, 4))). Raises Failure."""
    name, _, parts = text.partition("=")
    words = [part.strip().split("x") for part in parts.split(",")]
    if not name or not all(word.isascii() and word.isdigit() for part in words for word in part):
        raise Failure("launch.rule.strategy_form", text=text)
    return name, tuple(tuple(int(word) for word in part) for part in words)


def sharded(primitive: Primitive, name: str, strategies_by_name: dict[str, Strategy]) -> Primitive:
    """With its strategy, where there is one. MindSpore leaves it aside where nothing is split."""
    if name in strategies_by_name:
        do(shard_call(strategies_by_name[name]), primitive)
    return primitive


def shard_call(strategy: Strategy) -> NpuCall:
    return NpuCall("mindspore.ops", "Primitive.shard", {"in_strategy": strategy}, ("self",))
