"""How the work is divided among cards, and what it is divided of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

WIDTH = {"fp32": 4, "fp16": 2, "bf16": 2}


@dataclass(frozen=True, kw_only=True)
class Split:
    """`sharded`: each card of a data group keeps and updates its part of the optimizer's states (ZeRO stage 1)."""

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
    `sequence_parallel`: norms and dropout of a tensor group are divided along the sequence."""

    precision: Literal["fp32", "fp16", "bf16"]
    optimizer: Literal["sgd", "momentum", "adam", "adamw"]
    micro_batch: int
    micro_batches: int
    recomputation: Literal["none", "selective", "full"]
    sequence_parallel: bool

    @property
    def width(self) -> int:
        """Bytes of a number."""
        return WIDTH[self.precision]

    def rounds(self, split: Split) -> int:
        """Micro batches that one card sees for one update."""
        return self.micro_batches // split.data
