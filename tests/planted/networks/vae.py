"""A variational autoencoder of pictures: convolutions, a drawn code whose noise is given, transposed convolutions.

conv2d 0, 1 of the encoder; linear 0 mean, 1 logarithm of the variance, 2 of the decoder; conv_transpose2d 0, 1.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from tests.planted.networks.parts import generator_of, scaled, through, with_gradient_times

CHANNELS, CODE, SIDE, BATCH = 8, 6, 12, 4


class Vae(nn.Module):
    def __init__(self, plant: str) -> None:
        super().__init__()
        self.plant = plant
        self.first, self.second = nn.Conv2d(1, CHANNELS, 3, 2, 1), nn.Conv2d(CHANNELS, CHANNELS, 3, 2, 1)
        self.mean, self.spread = nn.Linear(9 * CHANNELS, CODE), nn.Linear(9 * CHANNELS, CODE)
        self.begin = nn.Linear(CODE, 9 * CHANNELS)
        self.third, self.last = (
            nn.ConvTranspose2d(CHANNELS, CHANNELS, 4, 2, 1),
            nn.ConvTranspose2d(CHANNELS, 1, 4, 2, 1),
        )

    def forward(self, pictures: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.second(F.relu(self.first(pictures)))).flatten(1)
        if self.plant == "cast":
            x = through(x, torch.bfloat16)
        mean, spread = self.mean(x), self.spread(x)
        half = 1.0 if self.plant == "variance for deviation" else 0.5
        code = mean + torch.exp(half * spread) * noise
        if self.plant == "code scaled":
            code = scaled(code, 1.01)
        if self.plant == "wrong backward":
            code = with_gradient_times(code, 0.6)
        y = F.relu(self.begin(code)).unflatten(1, (CHANNELS, 3, 3))
        y = self.third(y)
        y = self.last(F.silu(y) if self.plant == "silu" else F.relu(y))
        rebuilt = self._rebuilt(y, pictures)
        divergence = -0.5 * torch.sum(1 + spread - mean.pow(2) - spread.exp())
        return rebuilt + (0.5 if self.plant == "beta" else 1.0) * divergence

    def _rebuilt(self, y: torch.Tensor, pictures: torch.Tensor) -> torch.Tensor:
        kind = "mean" if self.plant == "loss mean" else "sum"
        return F.binary_cross_entropy_with_logits(y, pictures, reduction=kind)


def make(plant: str, block: int) -> nn.Module:
    torch.manual_seed(32)
    model = Vae(plant)
    with torch.no_grad():
        if plant == "weight":
            model.third.weight.mul_(1.005)
        elif plant == "bias":
            model.spread.bias[1] += 0.05
    return model


def batch(plant: str, step: int, rank: int) -> tuple[torch.Tensor, ...]:
    generator = generator_of(step, rank)
    pictures = torch.rand((BATCH, 1, SIDE, SIDE), generator=generator)
    noise = torch.randn((BATCH, CODE), generator=generator)
    return pictures, (noise.roll(1, 0) if plant == "noise rolled" else noise)
