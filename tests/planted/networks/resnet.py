"""A ResNet with bottlenecks, in training mode: batch norm takes the statistics of its batch.

conv2d and batch_norm 0 of the stem; of block 0 are 1, 2, 3 and 4 of its shortcut; of block 1 are 5, 6, 7; of block 2,
which halves the picture, 8, 9, 10 and 11 of its shortcut.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from tests.planted.networks.parts import generator_of, scaled, through, with_gradient_times

SIDE, CLASSES, BATCH = 16, 8, 4


def convolution(in_channels: int, channels: int, size: int, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(in_channels, channels, size, stride, size // 2, bias=False)


class Bottleneck(nn.Module):
    def __init__(self, plant: str, in_channels: int, channels: int, stride: int = 1) -> None:
        super().__init__()
        self.plant = plant
        inner = channels // 2
        strides = (stride, 1) if plant == "stride elsewhere" else (1, stride)
        self.first, self.second = (
            convolution(in_channels, inner, 1, strides[0]),
            convolution(inner, inner, 3, strides[1]),
        )
        self.third = convolution(inner, channels, 1)
        self.norms = nn.ModuleList(
            (
                nn.BatchNorm2d(inner),
                nn.BatchNorm2d(inner, eps=1e-3 if plant == "eps" else 1e-5),
                nn.BatchNorm2d(channels),
            )
        )
        self.shortcut = None
        if in_channels != channels:
            self.shortcut = nn.Sequential(convolution(in_channels, channels, 1, stride), nn.BatchNorm2d(channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.norms[0](self.first(x)))
        if self.plant == "cast":
            y = through(y, torch.bfloat16)
        y = F.relu(self.norms[1](self.second(y)))
        y = self.norms[2](self.third(y))
        if self.plant == "scaled":
            y = scaled(y, 1.004)
        if self.plant == "wrong backward":
            y = with_gradient_times(y, 0.8)
        if self.plant == "relu first":
            y = F.relu(y)
        return F.relu(y + (x if self.shortcut is None else self.shortcut(x)))


class Net(nn.Module):
    def __init__(self, plant: str, block: int) -> None:
        super().__init__()
        self.plant = plant
        self.stem, self.stem_norm = (
            convolution(3, 8, 3),
            nn.BatchNorm2d(8, momentum=0.5 if plant == "momentum" else 0.1),
        )
        plans = ((8, 16, 1), (16, 16, 1), (16, 24, 2))
        self.blocks = nn.ModuleList(
            Bottleneck(plant if block == number else "", *plan) for number, plan in enumerate(plans)
        )
        self.out = nn.Linear(24, CLASSES)

    def forward(self, pictures: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.stem_norm(self.stem(pictures)))
        x = F.avg_pool2d(x, 2) if self.plant == "average pooling" else F.max_pool2d(x, 3, 2, 1)
        for block in self.blocks:
            x = block(x)
        x = F.adaptive_max_pool2d(x, 1) if self.plant == "largest" else F.adaptive_avg_pool2d(x, 1)
        return F.cross_entropy(self.out(x.flatten(1)), labels)


def make(plant: str, block: int) -> nn.Module:
    torch.manual_seed(27)
    model = Net(plant, block)
    part = model.blocks[block]
    if plant == "norm not training":
        part.norms[0].eval()
    with torch.no_grad():
        if plant == "flipped":
            part.second.weight.copy_(part.second.weight.flip(-2).clone())
        elif plant == "norm bias":
            part.norms[2].bias[4] = 0.02
    return model


def batch(plant: str, step: int, rank: int) -> tuple[torch.Tensor, ...]:
    generator = generator_of(step, rank)
    pictures = torch.rand((BATCH, 3, SIDE, SIDE), generator=generator)
    if plant == "channels turned":
        pictures = pictures.flip(1)
    labels = torch.randint(0, CLASSES, (BATCH,), generator=generator)
    return pictures, labels
