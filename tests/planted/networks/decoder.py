"""A gated decoder: RMS norm, rotary positions, grouped queries, SwiGLU, causal attention.

Of block b are linear 7b query, +1 key, +2 value, +3 out, +4 gate, +5 up, +6 down; __mul__ 9b, 9b+1 the norm before
attention, 9b+2, 9b+3 rotary query, 9b+4, 9b+5 rotary key, 9b+6, 9b+7 the other norm, 9b+8 the gate; __add__ 6b, 6b+3
eps, 6b+1 rotary query, 6b+2 rotary key, 6b+4 and 6b+5 residuals in between.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from tests.planted.networks.parts import (
    RootNorm,
    attended,
    generator_of,
    scaled,
    sharpened,
    through,
    with_gradient_times,
)

WIDTH, HEADS, GROUPS, WORDS, LENGTH, BATCH = 32, 4, 2, 48, 10, 3
HEAD = WIDTH // HEADS


def rotations(plant: str) -> tuple[torch.Tensor, torch.Tensor]:
    base = 5000.0 if plant == "rotary base" else 10000.0
    frequencies = base ** -(torch.arange(0, HEAD, 2) / HEAD)
    angles = torch.outer(torch.arange(LENGTH) + (1 if plant == "rotary position" else 0), frequencies)
    angles = torch.cat([angles, angles], -1)
    return angles.cos(), angles.sin()


def turned(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor, plant: str = "") -> torch.Tensor:
    first, second = x.chunk(2, -1)
    halves = [second, -first] if plant == "rotary sign" else [-second, first]
    return x * cosine + torch.cat(halves, -1) * sine


class Attention(nn.Module):
    def __init__(self, plant: str) -> None:
        super().__init__()
        self.plant = plant
        self.query, self.out = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(2))
        self.key, self.value = (nn.Linear(WIDTH, GROUPS * HEAD, bias=False) for _ in range(2))
        for name, table in zip(("cosine", "sine"), rotations(plant), strict=True):
            self.register_buffer(name, table, persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = (self._heads(layer(x)) for layer in (self.query, self.key, self.value))
        query = turned(query, self.cosine, self.sine, self.plant)
        if self.plant != "keys not turned":
            key = turned(key, self.cosine, self.sine)
        if self.plant == "value scale":
            value = scaled(value, 1.02)
        key, value = (self._for_each_query(part) for part in (key, value))
        y = attended(query, key, value, self.plant, is_causal=self.plant != "not causal")
        return self.out(y.transpose(1, 2).reshape(x.shape))

    def _heads(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(x.shape[0], x.shape[1], -1, HEAD).transpose(1, 2)

    def _for_each_query(self, x: torch.Tensor) -> torch.Tensor:
        if self.plant == "heads tiled":
            return x.repeat(1, HEADS // GROUPS, 1, 1)
        return x.repeat_interleave(HEADS // GROUPS, 1)


class Block(nn.Module):
    def __init__(self, plant: str) -> None:
        super().__init__()
        self.plant = plant
        self.before_attention = RootNorm(WIDTH, 1e-2 if plant == "eps" else 1e-6)
        self.attention = Attention(plant)
        self.before_gate = RootNorm(WIDTH)
        self.gate, self.up = (nn.Linear(WIDTH, 2 * WIDTH, bias=False) for _ in range(2))
        self.down = nn.Linear(2 * WIDTH, WIDTH, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.before_attention(x))
        y = self.before_gate(x)
        if self.plant == "cast":
            y = through(y, torch.bfloat16)
        gate, up = self.gate(y), self.up(y)
        if self.plant == "gate swapped":
            gate, up = up, gate
        y = self._activation(gate) * up
        if self.plant == "wrong backward":
            y = with_gradient_times(y, 0.5)
        y = self.down(y)
        return y if self.plant == "no residual" else x + y

    def _activation(self, gate: torch.Tensor) -> torch.Tensor:
        return F.gelu(gate) if self.plant == "gelu" else F.silu(gate)


class Decoder(nn.Module):
    def __init__(self, plant: str, block: int) -> None:
        super().__init__()
        self.plant = plant
        self.words = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.ModuleList(Block(plant if block == number else "") for number in range(2))
        self.last, self.head = RootNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, words: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        x = self.words(words)
        for block in self.blocks:
            x = block(x)
        x = self.last(x)
        if self.plant == "last norm scaled":
            x = scaled(x, 1.01)
        padding = -100 if self.plant == "padding counted" else 0
        return F.cross_entropy(self.head(x).view(-1, WORDS), labels.reshape(-1), ignore_index=padding)


def make(plant: str, block: int) -> nn.Module:
    torch.manual_seed(21)
    model = Decoder(plant, block)
    if plant == "written":
        for part in model.modules():
            if isinstance(part, Attention):
                part.plant = plant
    sharpened(model)
    if plant == "weight":
        with torch.no_grad():
            model.blocks[block].down.weight.mul_(1.01)
    return model


def batch(plant: str, step: int, rank: int) -> tuple[torch.Tensor, ...]:
    words = torch.randint(0, WORDS, (BATCH, LENGTH + 1), generator=generator_of(step, rank))
    words[:, -2:] = 0
    inputs = words[:, :-1].clone()
    if plant == "words shifted":
        inputs = words[:, 1:].clone()
    return inputs, words[:, 1:].clone()
