"""A denoiser as of diffusion models: a time embedding, residual blocks that it scales and shifts, attention in between.

linear 0, 1 of the time; of block b is linear 2+b (before attention) or 4+b; conv2d 0 begins, 2b+1, 2b+2 of block b, 5
ends; group_norm 2b, 2b+1 of block 0, 2 of attention, 3, 4 of block 1, 5 last.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

from tests.planted.networks.parts import attended, generator_of, scaled, through, with_gradient_times

CHANNELS, SIDE, TIME, BATCH = 12, 8, 16, 3


def embedded(times: torch.Tensor, plant: str) -> torch.Tensor:
    span = 1000.0 if plant == "time span" else 10000.0
    frequencies = torch.exp(-math.log(span) * torch.arange(TIME // 2) / (TIME // 2))
    angles = times[:, None].float() * frequencies[None]
    parts = [angles.cos(), angles.sin()]
    return torch.cat(parts[::-1] if plant == "sine first" else parts, -1)


class Block(nn.Module):
    def __init__(self, plant: str) -> None:
        super().__init__()
        self.plant = plant
        self.first_norm = nn.GroupNorm(3, CHANNELS, eps=1e-3 if plant == "eps" else 1e-5)
        self.second_norm = nn.GroupNorm(3, CHANNELS)
        self.first, self.second = (nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1) for _ in range(2))
        self.time = nn.Linear(TIME, 2 * CHANNELS)

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        y = self.first(F.silu(self.first_norm(x)))
        if self.plant == "cast":
            y = through(y, torch.bfloat16)
        scale, shift = self.time(F.silu(time))[:, :, None, None].chunk(2, 1)
        if self.plant == "scale and shift":
            scale, shift = shift, scale
        y = self.second_norm(y) * (scale if self.plant == "scale without one" else 1 + scale) + shift
        y = self.second(F.silu(y))
        if self.plant == "wrong backward":
            y = with_gradient_times(y, 0.7)
        if self.plant == "residual scaled":
            y = scaled(y, 0.99)
        return x + y


class Attention(nn.Module):
    def __init__(self, plant: str) -> None:
        super().__init__()
        self.plant = plant
        self.norm, self.together = nn.GroupNorm(3, CHANNELS), nn.Linear(CHANNELS, 3 * CHANNELS)
        self.out = nn.Linear(CHANNELS, CHANNELS)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.together(self.norm(x).flatten(2).transpose(1, 2)).chunk(3, -1)
        query, key, value = (part[:, None] for part in parts)
        y = self.out(attended(query, key, value, self.plant)[:, 0])
        return x + y.transpose(1, 2).unflatten(2, (SIDE, SIDE))


class Denoiser(nn.Module):
    def __init__(self, plant: str, block: int) -> None:
        super().__init__()
        self.plant = plant
        self.time = nn.Sequential(nn.Linear(TIME, TIME), nn.SiLU(), nn.Linear(TIME, TIME))
        self.begin, self.end = nn.Conv2d(3, CHANNELS, 3, padding=1), nn.Conv2d(CHANNELS, 3, 3, padding=1)
        self.blocks = nn.ModuleList(Block(plant if block == number else "") for number in range(2))
        self.attention, self.last = Attention(plant), nn.GroupNorm(3, CHANNELS)

    def forward(self, pictures: torch.Tensor, noise: torch.Tensor, times: torch.Tensor) -> torch.Tensor:
        signal = torch.cos(times / 100 * math.pi / 2)[:, None, None, None].to(pictures.dtype)
        spread = torch.sqrt(1 - signal if self.plant == "schedule" else 1 - signal**2)
        x = signal * pictures + spread * noise
        time = self.time(embedded(times, self.plant).to(pictures.dtype))
        x = self.attention(self.blocks[0](self.begin(x), time))
        x = self.end(F.silu(self.last(self.blocks[1](x, time))))
        target = pictures if self.plant == "predicts the picture" else noise
        return F.l1_loss(x, target) if self.plant == "l1" else F.mse_loss(x, target)


def make(plant: str, block: int) -> nn.Module:
    torch.manual_seed(29)
    model = Denoiser(plant, block)
    with torch.no_grad():
        for part in (model.attention.together, model.time[0], model.time[2]):
            part.weight.mul_(2.5)
        if plant == "time weight":
            model.blocks[block].time.weight.mul_(1.01)
    return model


def batch(plant: str, step: int, rank: int) -> tuple[torch.Tensor, ...]:
    generator = generator_of(step, rank)
    pictures, noise = (torch.randn((BATCH, 3, SIDE, SIDE), generator=generator) for _ in range(2))
    times = torch.randint(1, 99, (BATCH,), generator=generator)
    return pictures, noise, (times + 1 if plant == "times shifted" else times)
