"""A dropout without random state: its mask is a function of seed, layer and sample, the same bits as in MindSpore.

A training goes on from any step with the same masks, however a batch is split for gradient accumulation or over ranks.
"""

from __future__ import annotations

import torch
from torch import nn

from ascend_engine.recipe_data.dropout_noise import BITS, MAX_SAMPLES, noise


class Position(nn.Module):
    """Which samples of the stream (see data.py) a micro batch has: the number of its first one. A buffer, since a plain
    number would be compiled in."""

    def __init__(self):
        super().__init__()
        self.register_buffer("first", torch.zeros((), dtype=torch.int32), persistent=False)
        self.register_buffer("rows", torch.arange(MAX_SAMPLES, dtype=torch.int32), persistent=False)

    def begin(self, sample: int) -> None:
        self.first.fill_(sample % 2**31)

    def forward(self, count):
        """The numbers of `count` samples, int32 (count,)."""
        return self.rows[:count] + self.first


class Dropout(nn.Module):
    """(batch, *shape) -> the same, with a share `rate` of the values at 0 and the others enlarged to make up for it.
    Only in training."""

    def __init__(self, rate: float, shape: tuple[int, ...], seed: int, layer: int, position: Position):
        super().__init__()
        self.position = position
        self.each = (-1,) + (1,) * len(shape)
        self.register_buffer("noise", torch.from_numpy(noise(shape, seed, layer)), persistent=False)
        self.compared = 2**BITS - 1
        self.threshold = round(rate * 2**BITS)
        self.scale = 1 / (1 - rate)

    def forward(self, x):
        if not self.training:
            return x
        samples = self.position(x.shape[0]).reshape(self.each)
        mask = (mix(self.noise ^ samples) & self.compared) >= self.threshold
        return x * mask.to(x.dtype) * self.scale


def mix(bits):
    """lowbias32 of https://github.com/skeeto/hash-prospector. A shift of int32 keeps the sign, hence the masks."""
    bits = bits ^ ((bits >> 16) & 0xFFFF)
    bits = bits * 0x7FEB352D
    bits = bits ^ ((bits >> 15) & 0x1FFFF)
    bits = bits * (0x846CA68B - 2**32)
    return bits ^ ((bits >> 16) & 0xFFFF)
