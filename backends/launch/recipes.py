"""What the shipped recipes bring along: the values that follow from a recipe where the user chose none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backends.launch.spec import LaunchSpec


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """`samples`: size of the training part, None where it depends on the user's data; `metrics`: what is measured,
    empty where only the recipe's own code knows; `recomputes`: whether it names cells for that, or may."""

    batch: int
    optimizer: str
    lr: float
    steps: int
    samples: int | None
    recomputes: bool = False
    has_dropout: bool = False
    metrics: tuple[str, ...]


DENSE = (64, 128, 16)
"""Inputs, width and outputs of recipe dense; a test compares them with the network that is trained."""

RECIPES = {
    "linear": Recipe(batch=32, optimizer="sgd", lr=0.1, steps=200, samples=1024, metrics=("loss",)),
    "digits": Recipe(batch=32, optimizer="adamw", lr=0.005, steps=300, samples=1437, metrics=("loss", "accuracy")),
    "text": Recipe(
        batch=8, optimizer="adamw", lr=0.003, steps=300, samples=None, metrics=("loss", "eval_loss"),
        recomputes=True, has_dropout=True,
    ),
    "dense": Recipe(batch=32, optimizer="momentum", lr=0.05, steps=200, samples=2048, metrics=("loss",)),
    "resnet50": Recipe(
        batch=8, optimizer="momentum", lr=0.01, steps=20, samples=None, metrics=("loss", "accuracy"),
        recomputes=True,
    ),
    "lora": Recipe(
        batch=8, optimizer="adamw", lr=0.002, steps=200, samples=None, metrics=("loss", "eval_loss"), recomputes=True,
    ),
    "own": Recipe(batch=32, optimizer="adamw", lr=0.001, steps=100, samples=None, metrics=(), recomputes=True),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Resolved:
    """The numbers a training runs with. `global_batch`: samples per optimizer step, over accumulation and
    workers; `epochs`: None where the size of the data is not known before."""

    batch: int
    optimizer: str
    lr: float
    weight_decay: float
    loss_scale: str
    steps: int
    global_batch: int
    epochs: float | None


def resolved(spec: LaunchSpec) -> Resolved:
    """Fills what was left empty from the recipe; `steps` are optimizer steps."""
    recipe = RECIPES[spec.what.recipe]
    batch = spec.how.batch or recipe.batch
    global_batch = batch * spec.how.accumulate * readers(spec)
    steps = _steps(spec, recipe, global_batch)
    optimizer = spec.learning.optimizer or recipe.optimizer
    return Resolved(
        batch=batch,
        optimizer=optimizer,
        lr=spec.learning.lr or recipe.lr,
        weight_decay=_weight_decay(spec, optimizer),
        loss_scale=_loss_scale(spec),
        steps=steps,
        global_batch=global_batch,
        epochs=steps * global_batch / used if (used := _used(spec, recipe, global_batch)) else None,
    )


def metrics_of(spec: LaunchSpec) -> tuple[str, ...]:
    """What can be the best of; with random numbers for pictures nothing can be right or wrong."""
    if spec.what.recipe == "resnet50" and spec.what.images == Path():
        return ("loss",)
    return RECIPES[spec.what.recipe].metrics


def workers(spec: LaunchSpec) -> int:
    """Processes that train together, on all nodes."""
    parallel = spec.parallel
    return 1 if parallel.parallel == "none" else parallel.workers * parallel.nodes


def readers(spec: LaunchSpec) -> int:
    """Processes that each read samples of their own: the stages of a pipeline share theirs, and so do the parts of
    divided tensors."""
    if spec.parallel.parallel == "tensor":
        return 1
    return max(1, workers(spec) // spec.parallel.stages) if spec.parallel.parallel == "hybrid" else workers(spec)


def _steps(spec: LaunchSpec, recipe: Recipe, global_batch: int) -> int:
    used = _used(spec, recipe, global_batch)
    if spec.learning.epochs is not None and used:
        return max(1, math.ceil(spec.learning.epochs * used / global_batch))
    return spec.learning.steps or recipe.steps


def _used(spec: LaunchSpec, recipe: Recipe, global_batch: int) -> int | None:
    """Samples of an epoch that are trained with; None where that is not known before."""
    if recipe.samples is None:
        return None
    remainder = recipe.samples % global_batch if spec.data.drop_remainder else 0
    return recipe.samples - remainder or None


def _weight_decay(spec: LaunchSpec, optimizer: str) -> float:
    """As torch has it: of all optimizers only AdamW decays weights by itself."""
    chosen = spec.learning.weight_decay
    if chosen is not None:
        return chosen
    return 0.01 if optimizer == "adamw" else 0.0


def _loss_scale(spec: LaunchSpec) -> str:
    """float16 ends at 65504 and needs one; bfloat16 has the range of float32."""
    precision = spec.precision
    if precision.amp == "O0":
        return "none"
    return precision.loss_scale or ("dynamic" if precision.amp_dtype == "fp16" else "none")
