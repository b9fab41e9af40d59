"""A network as the preview sees it: weights, matrix products, and what the backward pass needs kept."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Weight:
    """`split`: the dimension that a tensor split divides; None where every card keeps the whole weight."""

    name: str
    shape: tuple[int, ...]
    split: int | None = None

    def size(self, tensor: int = 1) -> int:
        """Numbers on one card."""
        return math.prod(self.shape) // (tensor if self.split is not None else 1)


@dataclass(frozen=True, kw_only=True)
class Matmul:
    """(m, k) x (k, n), `count` times for one sample. `split`: what a tensor split divides, "" where every card does
    all of it. `is_core`: scores and context of the attention, which selective recomputation does a second time."""

    m: int
    k: int
    n: int
    count: int = 1
    split: Literal["", "k", "n", "count"] = ""
    is_core: bool = False

    @property
    def flops(self) -> int:
        return 2 * self.m * self.k * self.n * self.count


@dataclass(frozen=True, kw_only=True)
class SavedNumbers:
    """What one sample leaves for the backward pass. Numbers take the width of the precision; `_bytes` do not depend
    on it (masks, logits in float32). `whole` is on every card of a tensor group unless the sequence is split too,
    `split` is divided among them, `core` is what selective recomputation drops, and `flash_bytes` what FlashAttention
    keeps in its place; `input` is what full recomputation leaves."""

    input: int = 0
    whole: int = 0
    whole_bytes: int = 0
    split: int = 0
    split_bytes: int = 0
    core: int = 0
    core_bytes: int = 0
    flash_bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class Layer:
    weights: tuple[Weight, ...] = ()
    matmuls: tuple[Matmul, ...] = ()
    saved: SavedNumbers = SavedNumbers()

    def size(self, tensor: int = 1) -> int:
        return sum(weight.size(tensor) for weight in self.weights)


@dataclass(frozen=True, kw_only=True)
class Network:
    """`blocks` equal blocks between a first and a last layer; only between blocks can a pipeline be cut. `message`:
    numbers that one sample hands from a block to the next. `sequence`: 1 where there is none. `tied`: a weight of
    the first layer that the last one uses too; a last stage of its own keeps a copy. `groups`: heads of keys and
    values, of which a tensor split gives each card whole ones, 0 where there are none. `states`: optimizer's numbers
    per weight, and for all together, by optimizer."""

    first: Layer
    last: Layer
    block: Layer = Layer()
    blocks: int = 0
    message: int = 0
    sequence: int = 1
    groups: int = 0
    tied: Weight | None = None
    states: dict[str, tuple[int, int]]

    @property
    def parameters(self) -> int:
        return self.first.size() + self.blocks * self.block.size() + self.last.size()

    @property
    def weights(self) -> tuple[Weight, ...]:
        return (*self.first.weights, *self.block.weights, *self.last.weights)

    @property
    def matmuls(self) -> tuple[Matmul, ...]:
        return (*self.first.matmuls, *self.block.matmuls, *self.last.matmuls)
