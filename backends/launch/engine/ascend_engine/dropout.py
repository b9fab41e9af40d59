"""A dropout without random state: its mask is a function of seed, layer and sample.

MindSpore's nn.Dropout cannot be resumed: neither its generator's state nor a seed brings a mask
back (measured, 2.10). Here a hash of numbers that are known at every step decides, the same under
`@jit` and in a graph, and however a batch is split for gradient accumulation.
"""

from __future__ import annotations

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

from ascend_engine.recipe_data.dropout_noise import BITS, MAX_SAMPLES, noise


class Position(nn.Cell):
    """Which samples of the stream (see data.py) a micro batch has: the number of its first one. A Parameter, since
    a plain number would be compiled in."""

    def __init__(self):
        super().__init__()
        self.first = Parameter(Tensor(0, ms.int32), name="first_sample", requires_grad=False)
        self.rows = Tensor(np.arange(MAX_SAMPLES, dtype=np.int32))

    def begin(self, sample: int) -> None:
        ops.assign(self.first, Tensor(sample % 2**31, ms.int32))

    def construct(self, count):
        """The numbers of `count` samples, int32 (count,)."""
        return self.rows[:count] + self.first


class Dropout(nn.Cell):
    """(batch, *shape) -> the same, with a share `rate` of the values at 0 and the others enlarged to make up for it.
    Only in training."""

    def __init__(self, rate: float, shape: tuple[int, ...], seed: int, layer: int, position: Position):
        super().__init__()
        self.position = position
        self.each = (-1,) + (1,) * len(shape)
        self.noise = Tensor(noise(shape, seed, layer))
        self.compared = 2**BITS - 1
        self.threshold = round(rate * 2**BITS)
        self.scale = 1 / (1 - rate)
        self.by15, self.by16 = Tensor(15, ms.int32), Tensor(16, ms.int32)

    def construct(self, x):
        if not self.training:
            return x
        samples = self.position(x.shape[0]).reshape(self.each)
        mask = (self.mix(self.noise ^ samples) & self.compared) >= self.threshold
        return x * mask.astype(x.dtype) * self.scale

    def mix(self, bits):
        """lowbias32 of https://github.com/skeeto/hash-prospector. A shift of int32 keeps the sign, hence the masks."""
        bits = bits ^ (ops.bitwise_right_shift(bits, self.by16) & 0xFFFF)
        bits = bits * 0x7FEB352D
        bits = bits ^ (ops.bitwise_right_shift(bits, self.by15) & 0x1FFFF)
        bits = bits * (0x846CA68B - 2**32)
        return bits ^ (ops.bitwise_right_shift(bits, self.by16) & 0xFFFF)
