"""A U-Net: two stages down, a middle, two stages up with what the stages down kept.

conv2d 0, 1 of the first stage, 2, 3 of the second, 4, 5 of the middle, 6, 7 and 8, 9 of those up, 10 the head;
group_norm as conv2d without the head; conv_transpose2d 0, 1.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from tests.planted.networks.parts import generator_of, scaled, through, with_gradient_times

CHANNELS, SIDE, CLASSES, BATCH = 6, 16, 3, 2


class Stage(nn.Module):
    def __init__(self, plant: str, in_channels: int, channels: int) -> None:
        super().__init__()
        self.plant = plant
        self.first = nn.Conv2d(
            in_channels, channels, 3, padding=1, padding_mode="circular" if plant == "circular" else "zeros"
        )
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        self.first_norm = nn.GroupNorm(6 if plant == "groups" else 3, channels)
        self.second_norm = nn.GroupNorm(3, channels, eps=1e-2 if plant == "eps" else 1e-5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.silu(self.first_norm(self.first(x)))
        if self.plant == "cast":
            x = through(x, torch.bfloat16)
        return F.silu(self.second_norm(self.second(x)))


class Net(nn.Module):
    def __init__(self, plant: str) -> None:
        super().__init__()
        self.plant = plant
        sizes = (CHANNELS, 2 * CHANNELS, 4 * CHANNELS)
        self.down = nn.ModuleList((Stage("", 3, sizes[0]), Stage(plant, sizes[0], sizes[1])))
        self.middle = Stage("", sizes[1], sizes[2])
        self.wide = nn.ModuleList(
            (nn.ConvTranspose2d(sizes[2], sizes[1], 2, 2), nn.ConvTranspose2d(sizes[1], sizes[0], 2, 2))
        )
        self.up = nn.ModuleList((Stage("", sizes[2], sizes[1]), Stage("", sizes[1], sizes[0])))
        self.head = nn.Conv2d(sizes[0], CLASSES, 1)

    def forward(self, pictures: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        x, skips = pictures, []
        for stage in self.down:
            x = stage(x)
            skips.append(x)
            x = F.avg_pool2d(x, 2) if self.plant == "average pooling" else F.max_pool2d(x, 2)
        x = self.middle(x)
        for number, (widen, stage) in enumerate(zip(self.wide, self.up, strict=True)):
            x = stage(self._joined(widen(x), skips.pop(), number))
        if self.plant == "wrong backward":
            x = with_gradient_times(x, -1.0)
        weight = torch.tensor([1.0, 2.0, 1.0], dtype=x.dtype) if self.plant == "class weights" else None
        return F.cross_entropy(self.head(x), labels, weight=weight)

    def _joined(self, x: torch.Tensor, skip: torch.Tensor, number: int) -> torch.Tensor:
        if number == 1:
            if self.plant == "skip scaled":
                skip = scaled(skip, 1.03)
            elif self.plant == "skip zero":
                skip = torch.zeros_like(skip)
            elif self.plant == "parts swapped":
                x, skip = skip, x
        return torch.cat([x, skip], 1)


def make(plant: str, block: int) -> nn.Module:
    torch.manual_seed(25)
    model = Net(plant)
    with torch.no_grad():
        if plant == "transposed weight":
            model.up[0].first.weight.copy_(model.up[0].first.weight.transpose(2, 3).clone())
        elif plant == "norm weight":
            model.middle.first_norm.weight[2] = 1.02
    return model


def batch(plant: str, step: int, rank: int) -> tuple[torch.Tensor, ...]:
    generator = generator_of(step, rank)
    pictures = torch.randn((BATCH, 3, SIDE, SIDE), generator=generator)
    return pictures, torch.randint(0, CLASSES, (BATCH, SIDE, SIDE), generator=generator)
