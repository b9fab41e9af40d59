"""What the shipped recipes bring along: the values that follow from a recipe where the user chose none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backends.launch.spec import LaunchSpec


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """`samples`: size of the training part, None where it depends on the user's data."""

    batch: int
    optimizer: str
    lr: float
    steps: int
    samples: int | None


RECIPES = {
    "linear": Recipe(batch=32, optimizer="sgd", lr=0.1, steps=200, samples=1024),
    "digits": Recipe(batch=32, optimizer="adamw", lr=0.005, steps=300, samples=1437),
    "text": Recipe(batch=8, optimizer="adamw", lr=0.003, steps=300, samples=None),
}


@dataclass(frozen=True, kw_only=True)
class Resolved:
    """The numbers a training runs with. `global_batch`: samples per optimizer step, over accumulation and
    workers; `epochs`: None where the size of the data is not known before."""

    batch: int
    optimizer: str
    lr: float
    steps: int
    global_batch: int
    epochs: float | None


def resolved(spec: LaunchSpec) -> Resolved:
    """Fills what was left empty from the recipe; `steps` are optimizer steps."""
    recipe = RECIPES[spec.what.recipe]
    batch = spec.how.batch or recipe.batch
    global_batch = batch * spec.how.accumulate
    steps = _steps(spec, recipe, global_batch)
    return Resolved(
        batch=batch,
        optimizer=spec.learning.optimizer or recipe.optimizer,
        lr=spec.learning.lr or recipe.lr,
        steps=steps,
        global_batch=global_batch,
        epochs=steps * global_batch / recipe.samples if recipe.samples else None,
    )


def _steps(spec: LaunchSpec, recipe: Recipe, global_batch: int) -> int:
    if spec.learning.epochs is not None and recipe.samples is not None:
        return max(1, math.ceil(spec.learning.epochs * recipe.samples / global_batch))
    return spec.learning.steps or recipe.steps
