"""A planted divergence, and what is true of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

EVERYWHERE = ("input", "output", "argument", "missing", "extra")


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
class Plant:
    """`plant`: what the model or the table of faults calls it; `kind`: of the kinds the issue lists; `noise`: of its
    noisy pair; `block`: which block of the model has it; `steps` and `ranks` of the dumps, `plant_step` and
    `plant_rank`: the only one that has it."""

    plant: str
    kind: str
    model: str
    answers: tuple[Answer, ...]
    noise: str = "ulp"
    block: int = 1
    level: str = "L1"
    task: str = "statistics"
    steps: int = 1
    ranks: int = 1
    plant_step: int | None = None
    plant_rank: int | None = None
    optimizer: str = ""

    @property
    def name(self) -> str:
        parts = [
            self.model, self.plant, "" if self.block == 1 else f"block {self.block}",
            "" if (self.level, self.task) == ("L1", "statistics") else f"{self.level} {self.task}",
            "" if self.plant_step is None else f"step {self.plant_step} of {self.optimizer}",
            "" if self.plant_rank is None else f"rank {self.plant_rank}",
        ]  # fmt: skip
        return ", ".join(filter(None, parts))

    def is_named_by(self, first: dict[str, Any] | None) -> bool:
        if first is None or first["step"] != (self.plant_step or 0) or first["rank"] != (self.plant_rank or 0):
            return False
        return any(answer.fits(first) for answer in self.answers)


@dataclass(frozen=True, kw_only=True)
class Order:
    """One dump to make; `noise` and `plant` may be empty."""

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
    autocast: bool = False

    @property
    def folder(self) -> str:
        parts = (self.model, self.plant or "healthy", self.noise or "clean", self.level, self.task)
        more = (f"{self.steps}x{self.ranks}", self.optimizer, f"b{self.block}" if self.plant else "",
                "" if self.plant_step is None else f"s{self.plant_step}",
                "" if self.plant_rank is None else f"r{self.plant_rank}", "bf16" if self.autocast else "")  # fmt: skip
        return "-".join(part.replace(" ", "_") for part in (*parts, *more) if part)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two dumps to compare. `plant` None: nothing is wrong between them."""

    target: Order
    golden: Order
    plant: Plant | None = None

    @property
    def name(self) -> str:
        noise = self.golden.noise or "clean"
        return f"{self.plant.name if self.plant else f'{self.target.folder}, nothing planted'} / {noise}"


def target_of(plant: Plant, noise: str) -> Order:
    return Order(
        model=plant.model, plant=plant.plant, block=plant.block, level=plant.level, task=plant.task,
        steps=plant.steps, ranks=plant.ranks, plant_step=plant.plant_step, plant_rank=plant.plant_rank,
        optimizer=plant.optimizer, autocast=noise == "autocast",
    )  # fmt: skip


def golden_of(plant: Plant, noise: str) -> Order:
    return Order(
        model=plant.model, noise=noise, level=plant.level, task=plant.task, steps=plant.steps, ranks=plant.ranks,
        optimizer=plant.optimizer, autocast=noise == "autocast",
    )  # fmt: skip


def pair_of(plant: Plant, noise: str) -> Pair:
    return Pair(target=target_of(plant, noise), golden=golden_of(plant, noise), plant=plant)
