"""A vision transformer: patches, a class token, attention, layer scale.

conv2d 0 the patches; of block b are linear 4b query-key-value, 4b+1 out, 4b+2 up, 4b+3 down; layer_norm 2b, 2b+1;
__mul__ 2b, 2b+1 layer scale; __add__ 0 the places, 2b+1, 2b+2 residuals.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from tests.planted.networks.parts import attended, generator_of, scaled, sharpened, through, with_gradient_times

WIDTH, HEADS, PATCH, SIDE, CLASSES, BATCH = 24, 3, 4, 12, 6, 4


class Block(nn.Module):
    def __init__(self, plant: str) -> None:
        super().__init__()
        self.plant = plant
        self.first_norm = nn.LayerNorm(WIDTH, eps=1e-3 if plant == "eps" else 1e-6)
        self.together, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.second_norm = nn.LayerNorm(WIDTH, eps=1e-6)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.scales = nn.ParameterList(nn.Parameter(torch.linspace(0.4, 0.6, WIDTH)) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self._attention(self.first_norm(x)) * self.scales[0]
        y = self.second_norm(x)
        if self.plant == "cast":
            y = through(y, torch.bfloat16)
        y = F.gelu(self.up(y), approximate="tanh" if self.plant == "gelu" else "none")
        y = self.down(y)
        if self.plant == "wrong backward":
            y = with_gradient_times(y, 1.2)
        return x + (y if self.plant == "no layer scale" else y * self.scales[1])

    def _attention(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.together(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        query, key, value = parts.unbind(0)
        if self.plant == "query scaled":
            query = scaled(query, 1.05)
        elif self.plant == "query and key":
            query, key = key, query
        y = attended(query, key, value, self.plant)
        return self.out(y.transpose(1, 2).flatten(2))


class Net(nn.Module):
    def __init__(self, plant: str, block: int) -> None:
        super().__init__()
        self.plant = plant
        self.patches = nn.Conv2d(3, WIDTH, PATCH, PATCH)
        count = (SIDE // PATCH) ** 2 + 1
        self.token, self.places = nn.Parameter(torch.randn(1, 1, WIDTH)), nn.Parameter(torch.randn(1, count, WIDTH))
        self.blocks = nn.ModuleList(Block(plant if block == number else "") for number in range(2))
        self.last, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, CLASSES)

    def forward(self, pictures: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        x = self.patches(pictures)
        x = x.transpose(2, 3).flatten(2) if self.plant == "patches turned" else x.flatten(2)
        x = torch.cat([self.token.expand(len(x), -1, -1).to(x.dtype), x.transpose(1, 2)], 1) + self.places
        for block in self.blocks:
            x = block(x)
        x = self.last(x)
        return F.cross_entropy(self.head(x.mean(1) if self.plant == "mean of all" else x[:, 0]), labels)


def make(plant: str, block: int) -> nn.Module:
    torch.manual_seed(28)
    model = Net(plant, block)
    if plant == "written":
        for part in model.blocks:
            part.plant = plant
    sharpened(model)
    with torch.no_grad():
        if plant == "places":
            model.places[0, 4].mul_(1.1)
        elif plant == "layer scale weight":
            model.blocks[block].scales[0].mul_(1.005)
    return model


def batch(plant: str, step: int, rank: int) -> tuple[torch.Tensor, ...]:
    generator = generator_of(step, rank)
    pictures = torch.randn((BATCH, 3, SIDE, SIDE), generator=generator)
    return pictures, torch.randint(0, CLASSES, (BATCH,), generator=generator)
