"""Two towers that are trained to agree (as CLIP's): an embedding bag, a perceptron, normalised features, a temperature.

linear 0, 1 of the first tower, 2, 3 of the second; normalize 0, 1; matmul 0.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from tests.planted.networks.parts import generator_of, scaled, sharpened, through, with_gradient_times

WIDTH, WORDS, LENGTH, FEATURES, BATCH = 16, 60, 5, 20, 8


class Tower(nn.Module):
    def __init__(self, plant: str, features: int) -> None:
        super().__init__()
        self.plant = plant
        self.first, self.second = nn.Linear(features, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.mish(self.first(x)) if self.plant == "mish" else F.softplus(self.first(x))
        if self.plant == "cast":
            x = through(x, torch.bfloat16)
        x = self.second(x)
        if self.plant == "feature scaled":
            x = torch.cat([scaled(x[:, :1], 1.05), x[:, 1:]], 1)
        return F.normalize(x, p=1.0 if self.plant == "length" else 2.0, dim=-1)


class Towers(nn.Module):
    def __init__(self, plant: str) -> None:
        super().__init__()
        self.plant = plant
        self.words = nn.EmbeddingBag(WORDS, WIDTH, mode="sum" if plant == "bag sum" else "mean")
        self.first, self.second = Tower("", FEATURES), Tower(plant, WIDTH)
        self.temperature = nn.Parameter(torch.tensor(2.0))

    def forward(self, features: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        picture, text = self.first(features), self.second(self.words(words))
        if self.plant == "wrong backward":
            text = with_gradient_times(text, 0.9)
        if self.plant == "detached":
            text = text.detach()
        scores = torch.matmul(picture, text.t()) * self.temperature.exp()
        labels = torch.arange(len(scores))
        if self.plant == "labels shifted":
            labels = labels.roll(1)
        loss = F.cross_entropy(scores, labels)
        other = F.cross_entropy(scores if self.plant == "not turned" else scores.t(), labels)
        return loss + other if self.plant == "no half" else (loss + other) / 2


def make(plant: str, block: int) -> nn.Module:
    torch.manual_seed(33)
    model = sharpened(Towers(plant))
    with torch.no_grad():
        if plant == "temperature":
            model.temperature.add_(0.01)
        elif plant == "word":
            model.words.weight[7].mul_(1.2)
    return model


def batch(plant: str, step: int, rank: int) -> tuple[torch.Tensor, ...]:
    generator = generator_of(step, rank)
    features = torch.randn((BATCH, FEATURES), generator=generator)
    return features, torch.randint(0, WORDS, (BATCH, LENGTH), generator=generator)
