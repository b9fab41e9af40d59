"""What is trained: a recipe's build(config) returns one of these."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import ascend_studio
from mindspore import mint, nn

from ascend_engine import datasets, own_recipe
from ascend_engine.batches.pipeline import batches_of, in_memory
from ascend_engine.batches.sequence import Batches
from ascend_engine.failures import Failure
from ascend_engine.optimizers import has_single_rate
from ascend_engine.recipe_data.defaults import Dataset, nothing_to_finish, nothing_to_prepare, nothing_to_watch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from mindspore import Tensor

    from ascend_engine.options import Config

BATCH_NORMS = (
    nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d,
    mint.nn.BatchNorm1d, mint.nn.BatchNorm2d, mint.nn.BatchNorm3d,
)  # fmt: skip


@dataclass
class Recipe:
    """
    loss(outputs, labels) is a scalar Tensor, the mean over the batch.
    train_data: arrays (inputs, labels), an object with len(data) and data[numbers]; or batches that are gone through: a
    pipeline of mindspore.dataset with two columns, or a function that returns an iterator of (inputs, labels) and is
    called again for each epoch. Of a pipeline as eval_data all samples are kept in memory.
    optimizer: None takes the one that the options name; any has the options' learning rate,
    schedule and weight decay.
    train_step: (inputs, labels) -> the loss, in place of the engine's step: it computes the gradients and updates the
    weights itself, by `optimizer`, whose learning rate is the options'. A function, or an nn.Cell such as
    TrainOneStepCell.
    metrics: by name, like loss, a mean over validation samples (`eval_data`).
    before_batch(sample): called with the number of a micro batch's first sample, counted from the
    beginning of the training; a dropout takes its mask from it.
    watch(): numbers recorded with every step, beside the loss.
    finish(folder): called once after the training; may leave files in `folder`.
    recompute: cells whose activations may be computed again in the backward pass instead of being kept.
    code: sha256 of the files that an own recipe was read from, "" for the studio's.
    """

    network: nn.Cell
    loss: Callable[[Tensor, Tensor], Tensor]
    train_data: Dataset
    optimizer: Any = None
    train_step: Callable[[Tensor, Tensor], Tensor] | None = None
    eval_data: Dataset | None = None
    metrics: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = field(default_factory=dict)
    before_batch: Callable[[int], None] = nothing_to_prepare
    watch: Callable[[], Mapping[str, float]] = nothing_to_watch
    finish: Callable[[Path], None] = nothing_to_finish
    recompute: Sequence[nn.Cell] = ()
    code: str = ""


def build(config: Config) -> Recipe:
    if config.recipe == "own":
        recipe = checked(*own_recipe.build(config), config)
    else:
        module = importlib.import_module("ascend_engine.recipes." + config.recipe)
        recipe = module.build(config)
    note_optimizer(recipe, config)
    note_batch_norm(recipe.network, config)
    measured = ("loss", *recipe.metrics) if recipe.eval_data is not None else ("loss",)
    if config.best not in ("none", *measured):
        raise Failure("launch.rule.no_metric", metric=config.best, measured=", ".join(measured))
    return recipe


def checked(recipe: Any, code: str, config: Config) -> Recipe:
    """An own recipe, as the training needs it. Raises Failure where a part of it cannot be trained with."""
    file = str(config.recipe_file)
    if not isinstance(recipe, Recipe):
        raise Failure("launch.recipe_returns", file=file, type=type(recipe).__name__)
    if not isinstance(recipe.network, nn.Cell) or not recipe.network.trainable_params():
        raise Failure("launch.recipe_network", file=file, type=type(recipe.network).__name__)
    if recipe.train_step is not None:
        check_own_step(recipe, config)
    functions = {"loss": recipe.loss, **{f"metrics[{name!r}]": metric for name, metric in recipe.metrics.items()}}
    for name, function in functions.items():
        if not callable(function):
            raise Failure("launch.recipe_not_callable", file=file, name=name, type=type(function).__name__)
    if recipe.optimizer is not None and not has_single_rate(recipe.optimizer):
        raise Failure("launch.recipe_optimizer", file=file, type=type(recipe.optimizer).__name__)
    train_data: Any = batches_of(recipe.train_data, config)
    if isinstance(train_data, Batches) and config.parallel not in ("none", "data"):
        raise Failure("launch.batches_divided", parallel=config.parallel)
    if train_data is None:
        train_data = datasets.dataset("train_data", recipe.train_data)
    eval_data = recipe.eval_data
    if eval_data is not None:
        eval_data = datasets.dataset("eval_data", in_memory(eval_data, config))
    return replace(recipe, train_data=train_data, eval_data=eval_data, code=code)


def check_own_step(recipe: Recipe, config: Config) -> None:
    """Raises Failure for options that the engine's step would have to act on."""
    if not callable(recipe.train_step) or recipe.optimizer is None:
        raise Failure("launch.own_step_parts", file=str(config.recipe_file))
    chosen = {
        "--accumulate": config.accumulate > 1, "--amp": config.amp != "O0", "--clip": config.clip is not None,
        "--on-nan": config.on_nan == "skip", "--parallel": config.parallel != "none",
    }  # fmt: skip
    if any(chosen.values()):
        raise Failure("launch.own_step_options", options=", ".join(flag for flag, value in chosen.items() if value))


def note_optimizer(recipe: Recipe, config: Config) -> None:
    """A recipe that brings one along leaves the choice of one without effect."""
    optimizer = recipe.optimizer
    if recipe.train_step is not None:
        ascend_studio.note("launch.own_step", type=type(optimizer).__name__, chosen=config.optimizer)
    elif optimizer is not None:
        ascend_studio.note("launch.own_optimizer", type=type(optimizer).__name__, chosen=config.optimizer)


def note_batch_norm(network: nn.Cell, config: Config) -> None:
    """Whoever splits a batch with BatchNorm in the network trains something else, however exact the sums are."""
    has_it = any(isinstance(cell, BATCH_NORMS) for _, cell in network.cells_and_names())
    if has_it and config.samples_per_step > config.batch:
        ascend_studio.note("launch.batch_norm", batch=config.batch, total=config.samples_per_step)
        print(f"BatchNorm takes its statistics from each micro batch of {config.batch} samples")
