"""A small language model in torch: two blocks with attention written out, one with the fused operator.

`plant` names what is wrong in it; "" is the healthy one. Every place of a plant has its healthy counterpart, so that
nothing but the plant differs.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, WORDS, LENGTH, BATCH = 32, 4, 40, 8, 4
aten = torch.ops.aten


class Turned(torch.autograd.Function):
    """Its value as it is, its gradient times `factor`."""

    @staticmethod
    def forward(context: Any, value: torch.Tensor, factor: float) -> torch.Tensor:
        context.factor = factor
        return value.view_as(value)

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> Any:
        return aten.mul.Scalar(gradient, context.factor), None


def written_over(value: torch.Tensor, factor: float, more: float) -> None:
    """In place, past autograd and msprobe: as a buffer that is used again too early."""
    aten.add_.Scalar(aten.mul_.Scalar(value.data, factor), more)


class Attention(nn.Module):
    def __init__(self, plant: str, number: int) -> None:
        super().__init__()
        self.plant, self.fused, self.makes_mask = plant, number == 1, number == 0
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        mask = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(2 if plant == "mask buffer" else 1)
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.plant == "reordered":
            key, query = self._heads(self.key(x)), self._heads(self.query(x))
        else:
            query, key = self._heads(self.query(x)), self._heads(self.key(x))
        if self.plant == "detached":
            key = key.detach()
        value = self._heads(self.value(x))
        if self.fused:
            y = F.scaled_dot_product_attention(query, key, value, is_causal=self.plant != "not causal")
        else:
            y = self._written_out(query, key, value)
        return self.out(y.transpose(1, 2).reshape(x.shape))

    def _heads(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(x.shape[0], x.shape[1], HEADS, -1).transpose(1, 2)

    def _written_out(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        scores = torch.matmul(query, key.transpose(-2, -1))
        scores = scores / math.sqrt(WIDTH if self.plant == "score scale" else WIDTH // HEADS)
        scores = scores.masked_fill(self._mask(), -10000.0)
        weights = torch.softmax(scores, dim=-2 if self.plant == "softmax dim" else -1)
        weights = F.dropout(weights, 0.1, self.plant == "dropout")
        return torch.matmul(weights, value)

    def _mask(self) -> torch.Tensor:
        if not self.makes_mask:
            return self.mask
        return torch.ones(LENGTH, LENGTH).triu(2 if self.plant == "mask made" else 1).bool()


class Block(nn.Module):
    def __init__(self, plant: str, number: int) -> None:
        super().__init__()
        self.plant = plant
        self.before_attention = nn.LayerNorm(WIDTH, eps=1e-3 if plant == "eps" else 1e-5)
        self.attention = Attention(plant, number)
        self.before_wide = nn.LayerNorm(WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.plant == "in place":
            written_over(x, 1.01, 0.0)
        x = x + self.attention(self.before_attention(x))
        y = self.before_wide(x)
        if self.plant == "cast between":
            y = aten._to_copy.default(aten._to_copy.default(y, dtype=torch.bfloat16), dtype=y.dtype)
        y = self._activation(self.wide(y))
        y = self._narrow(y)
        if self.plant.startswith("scale "):
            y = aten.mul.Scalar(y, float(self.plant.split()[1]))
        if self.plant == "clamped":  # which msprobe does not trace
            y = torch.clamp(y, -0.1, 0.1)
        if self.plant == "extra call":
            y = F.silu(y)
        y = Turned.apply(y, 1.5 if self.plant == "wrong backward" else 1.0)
        return y if self.plant == "no residual" else x + y

    def _activation(self, y: torch.Tensor) -> torch.Tensor:
        return F.gelu(y, approximate="tanh" if self.plant == "gelu" else "none")

    def _narrow(self, y: torch.Tensor) -> torch.Tensor:
        if self.plant == "half block":
            layer = self.narrow
            return F.linear(y.half(), layer.weight.half(), layer.bias.half()).float()
        return self.narrow(y)


class Transformer(nn.Module):
    def __init__(self, plant: str = "", block: int = 1) -> None:
        super().__init__()
        self.plant = plant
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH + 1, WIDTH)
        self.blocks = nn.ModuleList(Block(plant if i == block else "", i) for i in range(3))
        self.last = nn.LayerNorm(WIDTH)

    def forward(self, words: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        begin = 1 if self.plant == "position" else 0
        x = self.words(words) + self.places(torch.arange(begin, begin + words.shape[1]))
        for block in self.blocks:
            x = block(x)
        if self.plant != "no last norm":
            x = self.last(x)
        scores = F.linear(x, self.words.weight)
        smoothing = 0.1 if self.plant == "label smoothing" else 0.0
        return F.cross_entropy(scores.view(-1, WORDS), wanted.view(-1), label_smoothing=smoothing)


def make(plant: str, block: int) -> Transformer:
    torch.manual_seed(3)
    model = Transformer(plant, block)
    with torch.no_grad():
        for one in model.modules():  # as after some training: larger weights give attention something to decide
            if isinstance(one, nn.Linear):
                one.weight.mul_(1.7)
        part = model.blocks[block]
        if plant == "transposed":
            part.attention.out.weight.copy_(part.attention.out.weight.t().clone())
        elif plant == "weight":
            part.wide.weight.mul_(1.01)
        elif plant == "one weight":
            part.narrow.weight[5, 7] += 0.05
    return model


def batch(plant: str, step: int, rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(100 * rank + step + (50 if plant == "other batch" else 0))
    words = torch.randint(0, WORDS, (BATCH, LENGTH + 1), generator=generator)
    given = words[:, :-1].clone()
    return (given.roll(1, 0) if plant == "rolled" else given), words[:, 1:].contiguous()
