"""A small network in MindSpore: attention written out and two layers behind it, twice, over words; pynative.

`plant` names what is wrong in it; "" is the healthy one.
"""

from __future__ import annotations

import math
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

WIDTH, HEADS, WORDS, LENGTH, BATCH = 32, 4, 40, 8, 4


class Turned(nn.Cell):
    """Its value as it is, its gradient times `factor`."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor
        self.used_bprop_inputs = []

    def construct(self, value: Any) -> Any:
        return value

    def bprop(self, value: Any, out: Any, gradient: Any) -> Any:
        return (Tensor(gradient.asnumpy() * np.asarray(self.factor, gradient.asnumpy().dtype)),)


class Attention(nn.Cell):
    def __init__(self, plant: str) -> None:
        super().__init__()
        self.plant = plant
        self.query, self.key, self.value, self.out = (nn.Dense(WIDTH, WIDTH) for _ in range(4))
        mask = np.triu(np.ones((LENGTH, LENGTH), bool), 2 if plant == "mask" else 1)
        self.mask = Tensor(mask)

    def construct(self, x: Any) -> Any:
        query, key, value = (self._heads(one(x)) for one in (self.query, self.key, self.value))
        scores = ops.matmul(query, ops.transpose(key, (0, 1, 3, 2)))
        scores = scores / math.sqrt(WIDTH if self.plant == "score scale" else WIDTH // HEADS)
        scores = ops.masked_fill(scores, self.mask, -10000.0)
        weights = ops.softmax(scores, -2 if self.plant == "softmax dim" else -1)
        y = ops.matmul(weights, value)
        return self.out(ops.reshape(ops.transpose(y, (0, 2, 1, 3)), x.shape))

    def _heads(self, x: Any) -> Any:
        return ops.transpose(ops.reshape(x, (BATCH, LENGTH, HEADS, WIDTH // HEADS)), (0, 2, 1, 3))


class Block(nn.Cell):
    def __init__(self, plant: str) -> None:
        super().__init__()
        self.plant = plant
        self.before_attention = nn.LayerNorm((WIDTH,), epsilon=1e-3 if plant == "eps" else 1e-5)
        self.attention = Attention(plant)
        self.before_wide = nn.LayerNorm((WIDTH,), epsilon=1e-5)
        self.wide, self.narrow = nn.Dense(WIDTH, 4 * WIDTH), nn.Dense(4 * WIDTH, WIDTH)
        self.turned = Turned(1.5 if plant == "wrong backward" else 1.0)

    def construct(self, x: Any) -> Any:
        x = x + self.attention(self.before_attention(x))
        y = self.before_wide(x)
        if self.plant == "cast":
            y = Tensor(y.asnumpy().astype(np.float16).astype(np.float32))
        y = ops.gelu(self.wide(y), approximate="tanh" if self.plant == "gelu" else "none")
        y = self.turned(self.narrow(y))
        if self.plant == "extra call":
            y = ops.clamp(y, -0.1, 0.1)
        return y if self.plant == "no residual" else x + y


class Net(nn.Cell):
    def __init__(self, plant: str = "", block: int = 1) -> None:
        super().__init__()
        self.plant = plant
        self.words = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.CellList([Block(plant if i == block else "") for i in range(2)])
        self.last = nn.LayerNorm((WIDTH,), epsilon=1e-5)
        self.head = nn.Dense(WIDTH, WORDS)

    def construct(self, words: Any, wanted: Any) -> Any:
        x = self.words(words)
        for block in self.blocks:
            x = block(x)
        if self.plant != "no last norm":
            x = self.last(x)
        scores = ops.reshape(self.head(x), (-1, WORDS))
        smoothing = 0.1 if self.plant == "label smoothing" else 0.0
        return ops.cross_entropy(scores, ops.reshape(wanted, (-1,)), label_smoothing=smoothing)


def make(plant: str, block: int) -> Net:
    net = Net(plant, block)
    generator = np.random.default_rng(3)
    for one in net.get_parameters():
        size = 1.0 / math.sqrt(one.shape[-1]) if one.ndim > 1 else 0.1
        start = 1.0 if "gamma" in one.name else 0.0
        one.set_data(Tensor((start + generator.normal(0, size, one.shape)).astype(np.float32)))
    part = net.blocks[block]
    if plant == "transposed":
        part.attention.out.weight.set_data(Tensor(part.attention.out.weight.asnumpy().T.copy()))
    elif plant == "weight":
        part.wide.weight.set_data(Tensor(part.wide.weight.asnumpy() * np.float32(1.01)))
    elif plant == "one weight":
        changed = part.narrow.weight.asnumpy().copy()
        changed[5, 7] += 0.05
        part.narrow.weight.set_data(Tensor(changed))
    return net


def batch(plant: str, step: int, rank: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(100 * rank + step + (50 if plant == "other batch" else 0))
    words = generator.integers(0, WORDS, (BATCH, LENGTH + 1)).astype(np.int32)
    return Tensor(words[:, :-1].copy(), ms.int32), Tensor(words[:, 1:].copy(), ms.int32)
