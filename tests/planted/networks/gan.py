"""A GAN: one step of both losses. The generator widens a code to pictures, the discriminator judges true and fake ones.

Linear 0 begins the generator; conv_transpose2d 0, 1 and batch_norm 0, 1 are its own. The discriminator is called for
true pictures (conv2d 0, 1; linear 1), for fake ones without a gradient (2, 3; 2), and with it (4, 5; 3).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from tests.planted.networks.parts import generator_of, scaled, through, with_gradient_times

CODE, CHANNELS, BATCH = 8, 8, 4


class Generator(nn.Module):
    def __init__(self, plant: str) -> None:
        super().__init__()
        self.plant = plant
        self.begin = nn.Linear(CODE, 2 * CHANNELS * 16)
        self.first = nn.ConvTranspose2d(2 * CHANNELS, CHANNELS, 4, 2, 1, bias=False)
        self.last = nn.ConvTranspose2d(CHANNELS, 3, 4, 2, 1)
        self.norm = nn.BatchNorm2d(2 * CHANNELS)
        self.other_norm = nn.BatchNorm2d(CHANNELS, eps=1e-2 if plant == "eps" else 1e-5)

    def forward(self, code: torch.Tensor) -> torch.Tensor:
        x = self.begin(code).unflatten(1, (2 * CHANNELS, 4, 4))
        x = F.relu(self.norm(x))
        if self.plant == "cast":
            x = through(x, torch.bfloat16)
        x = F.relu(self.other_norm(self.first(x)))
        x = self.last(x)
        return torch.sigmoid(x) if self.plant == "sigmoid" else torch.tanh(x)


class Discriminator(nn.Module):
    def __init__(self, plant: str) -> None:
        super().__init__()
        self.plant = plant
        self.first, self.second = nn.Conv2d(3, CHANNELS, 4, 2, 1), nn.Conv2d(CHANNELS, 2 * CHANNELS, 4, 2, 1)
        self.out = nn.Linear(2 * CHANNELS * 16, 1)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        x = F.leaky_relu(self.first(pictures), 0.1 if self.plant == "slope" else 0.2)
        x = F.leaky_relu(self.second(x), 0.2)
        return self.out(x.flatten(1))


class Gan(nn.Module):
    def __init__(self, plant: str) -> None:
        super().__init__()
        self.plant = plant
        self.generator, self.discriminator = Generator(plant), Discriminator(plant)

    def forward(self, pictures: torch.Tensor, code: torch.Tensor) -> torch.Tensor:
        fakes = self.generator(code)
        if self.plant == "pictures scaled":
            fakes = scaled(fakes, 0.98)
        judge = self.discriminator
        true = judge(pictures)
        fake = judge(fakes if self.plant == "not detached" else fakes.detach())
        smooth = 0.9 if self.plant == "smoothed label" else 1.0
        loss = F.binary_cross_entropy_with_logits(true, torch.full_like(true, smooth))
        loss = loss + F.binary_cross_entropy_with_logits(fake, torch.zeros_like(fake))
        score = judge(fakes)
        if self.plant == "wrong backward":
            score = with_gradient_times(score, 3.0)
        label = torch.zeros_like(score) if self.plant == "label turned" else torch.ones_like(score)
        return loss + F.binary_cross_entropy_with_logits(score, label)


def make(plant: str, block: int) -> nn.Module:
    torch.manual_seed(26)
    model = Gan(plant)
    model.generator.norm.eval() if plant == "norm not training" else None
    with torch.no_grad():
        if plant == "kernel weight":
            model.discriminator.second.weight[3].mul_(1.3)
    return model


def batch(plant: str, step: int, rank: int) -> tuple[torch.Tensor, ...]:
    generator = generator_of(step, rank)
    pictures = torch.rand((BATCH, 3, 16, 16), generator=generator) * 2 - 1
    if plant == "pictures of 0 to 1":
        pictures = (pictures + 1) / 2
    return pictures, torch.randn((BATCH, CODE), generator=generator)
