"""Operators that are wrong inside while their inputs and arguments are right, as a kernel of another device may be:
of an aten operator, which call, which result, what becomes of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

aten = torch.ops.aten
KERNEL = re.compile(
    r"kernel (?P<operator>\w+) (?P<call>\d+)(?:\.(?P<result>\d+))? (?P<change>\w+)(?: (?P<number>\S+))?"
)


def times(factor: float) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda value: aten.mul.Scalar(value, factor)


def with_element(number: float, index: int = 5) -> Callable[[torch.Tensor], torch.Tensor]:
    def change(value: torch.Tensor) -> torch.Tensor:
        flat = aten.clone.default(value)
        aten.fill_.Scalar(aten.select.int(aten.view.default(flat, [-1]), 0, index), number)
        return flat

    return change


def without_last(part: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """The last part of a result is left as zeros: a tail that was not computed."""

    def change(value: torch.Tensor) -> torch.Tensor:
        flat = aten.clone.default(value)
        count = max(1, int(value.numel() * part))
        aten.zero_.default(aten.slice.Tensor(aten.view.default(flat, [-1]), 0, value.numel() - count, value.numel()))
        return flat

    return change


def rounded(dtype: torch.dtype) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda value: aten._to_copy.default(aten._to_copy.default(value, dtype=dtype), dtype=value.dtype)


def swapped() -> Callable[[torch.Tensor], torch.Tensor]:
    """The halves of a result in the other order: an offset that is wrong."""

    def change(value: torch.Tensor) -> torch.Tensor:
        flat = aten.reshape.default(value, [-1])
        return aten.reshape.default(aten.roll.default(flat, [value.numel() // 2]), list(value.shape))

    return change


CHANGES: dict[str, Callable[[float], Callable[[torch.Tensor], torch.Tensor]]] = {
    "times": times,
    "element": with_element,
    "tail": without_last,
    "bfloat16": lambda number: rounded(torch.bfloat16),
    "half": lambda number: rounded(torch.float16),
    "nan": lambda number: with_element(float("nan")),
    "inf": lambda number: with_element(float("inf")),
    "swapped": lambda number: swapped(),
}


def fault_of(plant: str) -> Any:
    """Return the fault that a plant names: one of FAULTS, or "kernel OPERATOR CALL[.RESULT] CHANGE [NUMBER]"; None
    where the plant is in the network's code."""
    match = KERNEL.fullmatch(plant)
    if match is None:
        return FAULTS.get(plant)
    change = CHANGES[match["change"]](float(match["number"] or 0))
    return match["operator"], int(match["call"]), int(match["result"] or 0), change


FAULTS: dict[str, Any] = {
    # Transformer: 4 linears of attention and 2 of the rest in each block; addmm counts them.
    "linear 1.002": ("addmm", 10, 0, times(1.002)),
    "linear in bfloat16": ("addmm", 9, 0, rounded(torch.bfloat16)),
    "nan": ("_softmax", 1, 0, with_element(float("nan"))),
    "softmax backward": ("_softmax_backward_data", 1, 0, times(1.01)),
    "norm backward": ("native_layer_norm_backward", 3, 1, times(1.05)),
    "gelu tail": ("gelu", 2, 0, without_last(0.1)),
    "linear 1.1": ("addmm", 4, 0, times(1.1)),
    # CNN: the stem and 2 convolutions in each block.
    "convolution in bfloat16": ("convolution", 4, 0, rounded(torch.bfloat16)),
    "convolution element": ("convolution", 3, 0, with_element(0.7, 40)),
    "convolution backward": ("convolution_backward", 2, 1, times(1.02)),
    "inf": ("convolution", 5, 0, with_element(float("inf"))),
    "pooling": ("mean", 0, 0, times(1.01)),
}
