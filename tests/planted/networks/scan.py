"""A selective scan (as Mamba's): a gated projection, a causal convolution, a recurrence over time, written out.

Of block b are linear 4b in, 4b+1 parameters, 4b+2 steps, 4b+3 out; conv1d b; softplus b; silu 2b, 2b+1; exp b.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from tests.planted.networks.parts import RootNorm, generator_of, scaled, sharpened, through, with_gradient_times

WIDTH, STATES, WORDS, LENGTH, BATCH = 16, 4, 40, 7, 3


class Scan(nn.Module):
    def __init__(self, plant: str) -> None:
        super().__init__()
        self.plant = plant
        self.norm = RootNorm(WIDTH)
        self.into, self.out = nn.Linear(WIDTH, 2 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.convolution = nn.Conv1d(WIDTH, WIDTH, 3, padding=2, groups=WIDTH)
        self.selected, self.steps = nn.Linear(WIDTH, 2 * STATES + 2, bias=False), nn.Linear(2, WIDTH)
        self.logarithm = nn.Parameter(torch.log(torch.arange(1.0, STATES + 1)).repeat(WIDTH, 1))
        self.skip = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, gate = self.into(self.norm(x)).chunk(2, -1)
        y = self.convolution(y.transpose(1, 2))
        y = y[..., 2:] if self.plant == "not causal" else y[..., :LENGTH]
        y = F.silu(y.transpose(1, 2))
        if self.plant == "cast":
            y = through(y, torch.bfloat16)
        y = self._scanned(y)
        if self.plant == "wrong backward":
            y = with_gradient_times(y, 0.9)
        gate = torch.sigmoid(gate) if self.plant == "sigmoid gate" else F.silu(gate)
        return x + self.out(y * gate)

    def _scanned(self, u: torch.Tensor) -> torch.Tensor:
        steps, into, out = torch.split(self.selected(u), [2, STATES, STATES], -1)
        delta = F.softplus(self.steps(steps), beta=2.0 if self.plant == "softplus beta" else 1.0)
        if self.plant == "delta scaled":
            delta = scaled(delta, 1.01)
        decay = torch.exp(delta[..., None] * -torch.exp(self.logarithm))
        driven = delta[..., None] * into[:, :, None] * u[..., None]
        state = torch.zeros_like(driven[:, 0])
        results = []
        for time in range(LENGTH):
            before = scaled(state, 1.02) if self.plant == "state scaled" and time == 4 else state
            state = decay[:, time] * before + driven[:, time]
            results.append((state * out[:, time, None]).sum(-1))
        y = torch.stack(results, 1)
        return y if self.plant == "no skip" else y + u * self.skip


class Model(nn.Module):
    def __init__(self, plant: str, block: int) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.ModuleList(Scan(plant if block == number else "") for number in range(2))
        self.last, self.head = RootNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, words: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        x = self.words(words)
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(self.head(self.last(x)).flatten(0, 1), labels.flatten())


def make(plant: str, block: int) -> nn.Module:
    torch.manual_seed(24)
    model = sharpened(Model(plant, block))
    with torch.no_grad():
        if plant == "decay":
            model.blocks[block].logarithm.add_(0.02)
        elif plant == "skip weight":
            model.blocks[block].skip[3] = 1.05
    return model


def batch(plant: str, step: int, rank: int) -> tuple[torch.Tensor, ...]:
    words = torch.randint(0, WORDS, (BATCH, LENGTH + 1), generator=generator_of(step, rank))
    return words[:, :-1].clone(), words[:, 1:].clone()
