"""Mixed precision by autocast, and the loss scale."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ascend_engine.options import Config

SCALE_WINDOW = 100
DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16}


def autocast(config: Config, device: torch.device) -> AbstractContextManager[Any]:
    """What a forward pass is done in: each operator in the dtype that torch's list has for it."""
    if config.amp == "O0":
        return contextlib.nullcontext()
    return torch.autocast(device.type, DTYPES[config.amp_dtype])


class LossScale:
    """The factor of the loss. A dynamic one halves at an overflow, whose step is left out, and doubles after every
    window without any, down to 1: then it is the gradients themselves that overflow."""

    def __init__(self, scale: float, dynamic: bool):
        self.scale = scale
        self.dynamic = dynamic
        self.counter = 0  # steps without an overflow since the last change

    def adjust(self, whole: bool) -> None:
        if not self.dynamic:
            return
        if not whole:
            self.scale = max(self.scale / 2, 1.0)
            self.counter = 0
        elif self.counter + 1 == SCALE_WINDOW:
            self.scale *= 2
            self.counter = 0
        else:
            self.counter += 1


def make_scale(config: Config) -> LossScale | None:
    if config.loss_scale == "none":
        return None
    return LossScale(config.scale, config.loss_scale == "dynamic")
