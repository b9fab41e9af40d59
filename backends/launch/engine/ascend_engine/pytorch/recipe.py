"""What is trained with PyTorch: a recipe's build(config) returns one of these."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import ascend_studio
import torch
from torch import nn

from ascend_engine import datasets, own_recipe
from ascend_engine.failures import Failure
from ascend_engine.pytorch.batches import batches_of
from ascend_engine.pytorch.map_dataset import by_number
from ascend_engine.recipe_data.defaults import nothing_to_finish, nothing_to_prepare, nothing_to_watch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from torch import Tensor

    from ascend_engine.options import Config
    from ascend_engine.recipe_data.defaults import Dataset

BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


@dataclass
class Recipe:
    """
    network: a torch.nn.Module on the CPU; the training moves it to its device.
    loss(outputs, labels) is a scalar Tensor, the mean over the batch. Integer labels come as int64.
    train_data: arrays (inputs, labels), a torch Dataset that is read by number, an object with len(data) and
    data[numbers]; or batches that are gone through: a DataLoader, an IterableDataset, a function that returns an
    iterator of (inputs, labels) and is called again for each epoch.
    optimizer: None takes the one that the options name; any has the options' learning rate and schedule.
    metrics: by name, like loss, a mean over validation samples (`eval_data`).
    before_batch(sample): called with the number of a micro batch's first sample, counted from the
    beginning of the training; a dropout takes its mask from it.
    watch(): numbers recorded with every step, beside the loss.
    finish(folder): called once after the training; may leave files in `folder`.
    recompute: modules whose activations may be computed again in the backward pass instead of being kept, and of which
    FSDP brings the weights together one at a time.
    tensor_parallel: by name of a module, how its weights are divided over ranks (torch.distributed.tensor.parallel).
    saves_frozen: whether a checkpoint holds weights that are not trained, too; without them build(config) has to bring
    the same ones again.
    code: sha256 of the files that an own recipe was read from, "" for the studio's.
    """

    network: nn.Module
    loss: Callable[[Tensor, Tensor], Tensor]
    train_data: Dataset
    optimizer: torch.optim.Optimizer | None = None
    eval_data: Dataset | None = None
    metrics: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = field(default_factory=dict)
    before_batch: Callable[[int], None] = nothing_to_prepare
    watch: Callable[[], Mapping[str, float]] = nothing_to_watch
    finish: Callable[[Path], None] = nothing_to_finish
    recompute: Sequence[nn.Module] = ()
    tensor_parallel: Mapping[str, Any] = field(default_factory=dict)
    saves_frozen: bool = True
    code: str = ""


def build(config: Config) -> Recipe:
    if config.recipe == "own":
        recipe = checked(*own_recipe.build(config), config)
    else:
        module = importlib.import_module("ascend_engine.pytorch.recipes." + config.recipe)
        recipe = module.build(config)
    note_optimizer(recipe.optimizer, config)
    note_batch_norm(recipe.network, config)
    measured = ("loss", *recipe.metrics) if recipe.eval_data is not None else ("loss",)
    if config.best not in ("none", *measured):
        raise Failure("launch.rule.no_metric", metric=config.best, measured=", ".join(measured))
    return recipe


def checked(recipe: Any, code: str, config: Config) -> Recipe:
    """An own recipe, as the training needs it. Raises Failure where a part of it cannot be trained with."""
    file = str(config.recipe_file)
    if not isinstance(recipe, Recipe):
        raise Failure("launch.torch_recipe_returns", file=file, type=type(recipe).__name__)
    if not isinstance(recipe.network, nn.Module) or not trained(recipe.network):
        raise Failure("launch.torch_recipe_network", file=file, type=type(recipe.network).__name__)
    functions = {"loss": recipe.loss, **{f"metrics[{name!r}]": metric for name, metric in recipe.metrics.items()}}
    for name, function in functions.items():
        if not callable(function):
            raise Failure("launch.recipe_not_callable", file=file, name=name, type=type(function).__name__)
    if recipe.optimizer is not None and not isinstance(recipe.optimizer, torch.optim.Optimizer):
        raise Failure("launch.torch_recipe_optimizer", file=file, type=type(recipe.optimizer).__name__)
    train_data: Any = batches_of(recipe.train_data, config)
    if train_data is None:
        train_data = datasets.dataset("train_data", by_number("train_data", recipe.train_data))
    eval_data = recipe.eval_data
    if eval_data is not None:
        eval_data = datasets.dataset("eval_data", by_number("eval_data", eval_data))
    return replace(recipe, train_data=train_data, eval_data=eval_data, code=code)


def trained(network: nn.Module) -> list[nn.Parameter]:
    """The parameters that a training changes."""
    return [parameter for parameter in network.parameters() if parameter.requires_grad]


def note_optimizer(optimizer: Any, config: Config) -> None:
    """A recipe that brings one along leaves the choice of one without effect."""
    if optimizer is not None:
        ascend_studio.note("launch.torch_own_optimizer", type=type(optimizer).__name__, chosen=config.optimizer)


def note_batch_norm(network: nn.Module, config: Config) -> None:
    """Whoever splits a batch with BatchNorm in the network trains something else, however exact the sums are."""
    has_batch_norm = any(isinstance(module, BATCH_NORMS) for module in network.modules())
    if has_batch_norm and config.samples_per_step > config.batch:
        ascend_studio.note("launch.batch_norm", batch=config.batch, total=config.samples_per_step)
        print(f"BatchNorm takes its statistics from each micro batch of {config.batch} samples")
