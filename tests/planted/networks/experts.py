"""A mixture of experts: attention, a router that takes two of four experts for each word, and its balancing loss.

Linear 0 query-key-value, 1 out of attention, 2 router, 3+2e and 4+2e of expert e, 11 head.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from tests.planted.networks.parts import attended, generator_of, scaled, sharpened, through, with_gradient_times

WIDTH, HEADS, EXPERTS, CHOSEN, WORDS, LENGTH, BATCH = 24, 3, 4, 2, 40, 8, 4


class Expert(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(F.gelu(self.up(x)))


class Attention(nn.Module):
    def __init__(self, plant: str) -> None:
        super().__init__()
        self.plant = plant
        self.norm, self.together, self.out = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.together(self.norm(x)).chunk(3, -1)
        query, key, value = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in parts)
        if self.plant == "key and value":
            key, value = value, key
        return x + self.out(attended(query, key, value, self.plant).transpose(1, 2).flatten(2))


class Experts(nn.Module):
    def __init__(self, plant: str) -> None:
        super().__init__()
        self.plant = plant
        self.words, self.attention = nn.Embedding(WORDS, WIDTH), Attention(plant)
        self.norm, self.router = nn.LayerNorm(WIDTH, eps=1e-3 if plant == "eps" else 1e-5), nn.Linear(WIDTH, EXPERTS)
        self.experts = nn.ModuleList(Expert() for _ in range(EXPERTS))
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, words: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        x = self.attention(self.words(words)).flatten(0, 1)
        y = self.norm(x)
        if self.plant == "cast":
            y = through(y, torch.bfloat16)
        odds = torch.softmax(self.router(y), -1)
        weights, chosen = torch.topk(odds, 1 if self.plant == "first only" else CHOSEN)
        if self.plant != "weights as they are":
            weights = weights / weights.sum(-1, keepdim=True)
        x = x + self._mixed(y, weights, chosen)
        loss = F.cross_entropy(self.head(x), labels.flatten(), label_smoothing=0.1 if self.plant == "smooth" else 0.0)
        share = 0.1 if self.plant == "balance" else 0.01
        return loss + share * self._balance(odds, chosen)

    def _mixed(self, x: torch.Tensor, weights: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        result = torch.zeros_like(x)
        for number in range(EXPERTS):
            rows, places = torch.where(chosen == number)
            expert = self.experts[{1: 2, 2: 1}.get(number, number) if self.plant == "experts swapped" else number]
            y = expert(x[rows])
            if self.plant == "expert scaled" and number == 2:
                y = scaled(y, 1.05)
            if self.plant == "wrong backward" and number == 1:
                y = with_gradient_times(y, 2.0)
            result = result.index_add(0, rows, (y * weights[rows, places, None]).to(result.dtype))
        return result

    def _balance(self, odds: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        used = F.one_hot(chosen[:, 0], EXPERTS).to(odds.dtype).mean(0)
        return EXPERTS * (used * odds.mean(0)).sum()


def make(plant: str, block: int) -> nn.Module:
    torch.manual_seed(22)
    model = sharpened(Experts(plant), 2.0)
    if plant == "expert weight":
        with torch.no_grad():
            model.experts[3].up.bias.add_(0.01)
    return model


def batch(plant: str, step: int, rank: int) -> tuple[torch.Tensor, ...]:
    words = torch.randint(0, WORDS, (BATCH, LENGTH + 1), generator=generator_of(step, rank))
    return words[:, :-1].clone(), words[:, 1:].clone()
