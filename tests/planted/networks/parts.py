"""What several networks are built of. Whatever is planted through `torch.ops.aten` is not traced by msprobe, as a
custom kernel or a change in place is not."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from tests.planted.networks import WRITTEN

aten = torch.ops.aten


def through(value: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Return a value after a cast and a cast back."""
    return aten._to_copy.default(aten._to_copy.default(value, dtype=dtype), dtype=value.dtype)


def scaled(value: torch.Tensor, factor: float) -> torch.Tensor:
    return aten.mul.Scalar(value, factor)


def generator_of(step: int, rank: int) -> torch.Generator:
    return torch.Generator().manual_seed(1000 * rank + step + 17)


def sharpened(model: nn.Module, factor: float = 1.6) -> nn.Module:
    """Enlarge the weights of linear layers, as after some training: attention and gates then decide something."""
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, nn.Linear):
                module.weight.mul_(factor)
    return model


def attended(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, plant: str, *, is_causal: bool = False
) -> torch.Tensor:
    """Return attention by the fused operator, or written out by hand."""
    if plant != WRITTEN:
        return F.scaled_dot_product_attention(query, key, value, is_causal=is_causal)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.shape[-1])
    if is_causal:
        mask = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(mask, float("-inf"))
    return torch.matmul(torch.softmax(scores, dim=-1), value)


class RootNorm(nn.Module):
    """RMS norm by hand: pow, mean, __add__, rsqrt and two __mul__."""

    def __init__(self, width: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.linspace(0.8, 1.2, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class Flipped(torch.autograd.Function):
    """A value as it is; its gradient times a factor."""

    @staticmethod
    def forward(context: Any, value: torch.Tensor, factor: float) -> torch.Tensor:
        context.factor = factor
        return value.view_as(value)

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> Any:
        return aten.mul.Scalar(gradient, context.factor), None


def with_gradient_times(value: torch.Tensor, factor: float) -> torch.Tensor:
    result: torch.Tensor = Flipped.apply(value, factor)
    return result
