"""A planted divergence, and what is true of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

OF_OPTIMIZER = "optimizer "
"""A plant that begins so is in the optimizer: see tests/planted/optimizers.py."""
BLAMES_OPTIMIZER = re.compile("optimizer|update|learning|decay|momentum")
EVERYWHERE = ("input", "output", "argument", "missing", "extra")
AUTOCAST = {"autocast": "bfloat16", "bfloat16": "bfloat16", "float16": "float16"}
"""The dtype of autocast, on both sides, of a pair under a noise."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One that names a plant rightly: `name`, a pattern for the whole name of the call; any of `places`."""

    name: str
    places: tuple[str, ...]
    direction: str = "forward"

    def fits(self, first: dict[str, Any]) -> bool:
        return (
            re.fullmatch(self.name, first["name"]) is not None
            and first["place"] in self.places
            and first["direction"] == self.direction
        )


@dataclass(frozen=True, kw_only=True)
class OptimizerAnswer:
    """One that blames the optimizer, whichever parameter it names."""

    def fits(self, first: dict[str, Any]) -> bool:
        return BLAMES_OPTIMIZER.search(f"{first['reason']} {first['place']}") is not None


@dataclass(frozen=True, kw_only=True)
class Plant:
    """`plant`: what the model or the table of faults calls it; `kind`: of the kinds the issue lists; `noise`: of its
    noisy pair; `block`: which block of the model has it; `steps` and `ranks` of the dumps, `plant_step` and
    `plant_rank`: the only one that has it; `first_step`: the first step that shows it."""

    plant: str
    kind: str
    model: str
    answers: tuple[Answer | OptimizerAnswer, ...]
    noise: str = "ulp"
    block: int = 1
    level: str = "L1"
    task: str = "statistics"
    steps: int = 1
    ranks: int = 1
    plant_step: int | None = None
    plant_rank: int | None = None
    optimizer: str = ""
    first_step: int = 0

    @property
    def name(self) -> str:
        parts = [
            self.model, self.plant, "" if self.block == 1 else f"block {self.block}",
            "" if (self.level, self.task) == ("L1", "statistics") else f"{self.level} {self.task}",
            "" if self.plant_step is None else f"step {self.plant_step} of {self.optimizer}",
            f"of {self.optimizer}" if self.first_step else "",
            "" if self.plant_rank is None else f"rank {self.plant_rank}",
        ]  # fmt: skip
        return ", ".join(filter(None, parts))

    def is_named_by(self, first: dict[str, Any] | None) -> bool:
        if (
            first is None
            or first["step"] != (self.plant_step or self.first_step)
            or first["rank"] != (self.plant_rank or 0)
        ):
            return False
        return any(answer.fits(first) for answer in self.answers)


@dataclass(frozen=True, kw_only=True)
class Order:
    """One dump to make; `noise` and `plant` may be empty. `seed` of the noise; `autocast`: a dtype, or empty."""

    model: str
    plant: str = ""
    noise: str = ""
    block: int = 1
    level: str = "L1"
    task: str = "statistics"
    steps: int = 1
    ranks: int = 1
    plant_step: int | None = None
    plant_rank: int | None = None
    optimizer: str = ""
    autocast: str = ""
    seed: int = 0

    @property
    def folder(self) -> str:
        parts = (self.model, self.plant or "healthy", self.noise or "clean", self.level, self.task)
        more = (f"{self.steps}x{self.ranks}", self.optimizer, f"b{self.block}" if self.plant else "",
                "" if self.plant_step is None else f"s{self.plant_step}",
                "" if self.plant_rank is None else f"r{self.plant_rank}", self.autocast,
                f"seed{self.seed}" if self.seed else "")  # fmt: skip
        return "-".join(re.sub(r"[ *,]", "_", part) for part in (*parts, *more) if part)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two dumps to compare. `plant` None: nothing is wrong between them."""

    target: Order
    golden: Order
    plant: Plant | None = None

    @property
    def name(self) -> str:
        noise = self.golden.noise or "clean"
        seed = f" {self.golden.seed}" if self.golden.seed else ""
        return f"{self.plant.name if self.plant else f'{self.target.folder}, nothing planted'} / {noise}{seed}"


def target_of(plant: Plant, noise: str) -> Order:
    return Order(
        model=plant.model, plant=plant.plant, block=plant.block, level=plant.level, task=plant.task,
        steps=plant.steps, ranks=plant.ranks, plant_step=plant.plant_step, plant_rank=plant.plant_rank,
        optimizer=plant.optimizer, autocast=AUTOCAST.get(noise, ""),
    )  # fmt: skip


def golden_of(plant: Plant, noise: str, seed: int = 0) -> Order:
    return Order(
        model=plant.model, noise=noise, seed=seed, level=plant.level, task=plant.task, steps=plant.steps,
        ranks=plant.ranks, optimizer=plant.optimizer, autocast=AUTOCAST.get(noise, ""),
    )  # fmt: skip


def pair_of(plant: Plant, noise: str, seed: int = 0) -> Pair:
    return Pair(target=target_of(plant, noise), golden=golden_of(plant, noise, seed), plant=plant)
