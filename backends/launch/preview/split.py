"""How the work is divided among cards, and what it is divided of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

WIDTH = {"fp32": 4, "fp16": 2, "bf16": 2}


@dataclass(frozen=True, kw_only=True)
class Split:
    """`sharded`: each card of a data group keeps and updates its part of the optimizer's states, and of what else the
    setting's stage of ZeRO divides."""

    data: int
    tensor: int
    pipeline: int
    sharded: bool

    @property
    def cards(self) -> int:
        return self.data * self.tensor * self.pipeline


@dataclass(frozen=True, kw_only=True)
class Setting:
    """`micro_batches`: of all cards together for one update, so that every split learns from the same samples.
    `sequence_parallel`: norms and dropout of a tensor group are divided along the sequence. `gradient_bytes`: of a
    gradient, None for as many as the precision has. `zero`: what a sharded split divides: states (1), gradients too
    (2), weights too (3). `flash`: no matrix of scores is kept. `overlap`: share of the data group's communication
    that is hidden behind computing."""

    precision: Literal["fp32", "fp16", "bf16"]
    optimizer: Literal["sgd", "momentum", "adam", "adamw"]
    micro_batch: int
    micro_batches: int
    recomputation: Literal["none", "selective", "full"]
    sequence_parallel: bool
    gradient_bytes: int | None = None
    zero: Literal[1, 2, 3] = 1
    flash: bool = False
    overlap: float = 0.0

    @property
    def width(self) -> int:
        """Bytes of a number."""
        return WIDTH[self.precision]

    @property
    def gradient_width(self) -> int:
        """Bytes of a gradient."""
        return self.width if self.gradient_bytes is None else self.gradient_bytes

    def rounds(self, split: Split) -> int:
        """Micro batches that one card sees for one update."""
        return self.micro_batches // split.data
