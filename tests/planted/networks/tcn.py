"""A temporal convolution network: dilated causal convolutions with weight norm, residuals, a forecast.

Of block b are conv1d 2b, 2b+1 and __add__ b; conv1d 6 forecasts.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from tests.planted.networks.parts import generator_of, scaled, through, with_gradient_times

CHANNELS, LENGTH, BATCH = 10, 24, 4


class Block(nn.Module):
    def __init__(self, plant: str, number: int) -> None:
        super().__init__()
        self.plant, self.spread = plant, 2**number
        if plant == "dilation":
            self.spread *= 2
        wrap = nn.utils.parametrizations.weight_norm
        self.first, self.second = (wrap(nn.Conv1d(CHANNELS, CHANNELS, 3, dilation=self.spread)) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.first(self._padded(x)))
        if self.plant == "cast":
            y = through(y, torch.bfloat16)
        y = F.dropout(y, 0.2, self.plant == "dropout")
        y = self.second(self._padded(y))
        y = F.elu(y) if self.plant == "elu" else F.relu(y)
        if self.plant == "scaled":
            y = scaled(y, 1.01)
        if self.plant == "wrong backward":
            y = with_gradient_times(y, 2.0)
        return F.relu(y if self.plant == "no residual" else y + x)

    def _padded(self, x: torch.Tensor) -> torch.Tensor:
        size = 2 * self.spread
        return F.pad(x, (size // 2, size // 2) if self.plant == "not causal" else (size, 0))


class Net(nn.Module):
    def __init__(self, plant: str, block: int) -> None:
        super().__init__()
        self.plant = plant
        self.begin = nn.Conv1d(2, CHANNELS, 1)
        self.blocks = nn.ModuleList(Block(plant if block == number else "", number) for number in range(3))
        self.end = nn.Conv1d(CHANNELS, 2, 1)

    def forward(self, series: torch.Tensor, following: torch.Tensor) -> torch.Tensor:
        x = self.begin(series)
        for block in self.blocks:
            x = block(x)
        x = self.end(x)
        if self.plant == "huber":
            return F.smooth_l1_loss(x, following)
        return F.mse_loss(x, following, reduction="sum" if self.plant == "loss sum" else "mean")


def make(plant: str, block: int) -> nn.Module:
    torch.manual_seed(31)
    model = Net(plant, block)
    with torch.no_grad():
        if plant == "length of weight":
            model.blocks[block].first.parametrizations.weight.original0.mul_(1.01)
        elif plant == "bias":
            model.blocks[block].second.bias[2] += 0.02
    return model


def batch(plant: str, step: int, rank: int) -> tuple[torch.Tensor, ...]:
    generator = generator_of(step, rank)
    series = torch.randn((BATCH, 2, LENGTH + 1), generator=generator).cumsum(-1)
    if plant == "series scaled":
        return series[..., :-1] * 1.001, series[..., 1:].clone()
    return series[..., :-1].clone(), series[..., 1:].clone()
