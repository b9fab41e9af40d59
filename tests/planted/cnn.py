"""A small network for pictures in torch: a stem, three residual blocks, pooling, a classifier.

`plant` names what is wrong in it; "" is the healthy one.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from tests.planted.transformer import aten, written_over

CHANNELS, SIDE, CLASSES, BATCH = 8, 16, 10, 4


class Block(nn.Module):
    def __init__(self, plant: str) -> None:
        super().__init__()
        self.plant = plant
        spread = 2 if plant == "dilation" else 1
        self.first = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=spread, dilation=spread, bias=False)
        self.first_norm = nn.BatchNorm2d(
            CHANNELS, eps=1e-3 if plant == "norm eps" else 1e-5, momentum=0.01 if plant == "momentum" else 0.1
        )
        self.second = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(CHANNELS)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.first(x)
        if self.plant == "norm after relu":
            y = self.first_norm(F.relu(y))
        elif self.plant == "leaky":
            y = F.leaky_relu(self.first_norm(y), 0.01)
        elif self.plant == "no relu":
            y = self.first_norm(y)
        else:
            y = F.relu(self.first_norm(y))
        if self.plant == "written over":
            written_over(y, 1.0, 0.01)
        y = self.second_norm(self._second(y))
        return F.relu(y if self.plant == "no shortcut" else y + x)

    def _second(self, y: torch.Tensor) -> torch.Tensor:
        if self.plant == "bfloat16 block":
            return F.conv2d(y.bfloat16(), self.second.weight.bfloat16(), padding=1).float()
        return self.second(y)


class Cnn(nn.Module):
    def __init__(self, plant: str = "", block: int = 1) -> None:
        super().__init__()
        self.plant = plant
        self.stem, self.stem_norm = nn.Conv2d(3, CHANNELS, 3, padding=1, bias=False), nn.BatchNorm2d(CHANNELS)
        self.blocks = nn.ModuleList(Block(plant if i == block else "") for i in range(3))
        self.frozen = nn.BatchNorm2d(CHANNELS).eval()
        self.out = nn.Linear(CHANNELS, CLASSES)

    def forward(self, pictures: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        if self.plant == "pixels":
            pictures = aten.mul.Scalar(pictures, 1.002)
        x = F.max_pool2d(F.relu(self.stem_norm(self.stem(pictures))), 2)
        for block in self.blocks:
            x = block(x)
        x = self.frozen(x)
        if self.plant == "twice":
            x = F.relu(x - 0.05)
        x = x.mean((1, 3) if self.plant == "mean dim" else (2, 3))
        kind = "sum" if self.plant == "loss sum" else "mean"
        return F.cross_entropy(self.out(x), wanted, reduction=kind)


def make(plant: str, block: int) -> Cnn:
    torch.manual_seed(5)
    model = Cnn(plant, block)
    model.frozen.running_mean.uniform_(-0.1, 0.1)
    model.frozen.running_var.uniform_(0.5, 2.0)
    with torch.no_grad():
        if plant == "running":
            model.frozen.running_var.mul_(1.02)
        elif plant == "flipped":
            weight = model.blocks[block].first.weight
            weight.copy_(weight.flip(-1).clone())
        elif plant == "one channel":
            model.blocks[block].second_norm.weight[3] = 1.1
    return model


def batch(plant: str, step: int, rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(100 * rank + step)
    pictures = torch.rand((BATCH, 3, SIDE, SIDE), generator=generator)
    return pictures, torch.randint(0, CLASSES, (BATCH,), generator=generator)
