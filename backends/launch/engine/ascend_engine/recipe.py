"""What is trained: a recipe's build(config) returns one of these."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import numpy as np
    from mindspore import Tensor, nn

    from ascend_engine.options import Config


class Dataset(Protocol):
    """Samples by number: `data[numbers]` is the pair (inputs, labels), first dimension a batch."""

    def __len__(self) -> int: ...

    def __getitem__(self, numbers: np.ndarray, /) -> tuple[np.ndarray, np.ndarray]: ...


def nothing_to_watch() -> dict[str, float]:
    return {}


def nothing_to_prepare(sample: int) -> None:
    pass


def nothing_to_finish(folder: Path) -> None:
    pass


@dataclass
class Recipe:
    """
    loss(outputs, labels) is a scalar Tensor, the mean over the batch.
    optimizer: None takes the one that the options name; any has the options' learning rate,
    schedule and weight decay.
    metrics: by name, like loss, a mean over held-out samples (`eval_data`).
    before_batch(sample): called with the number of a micro batch's first sample, counted from the
    beginning of the training; a dropout takes its mask from it.
    watch(): numbers recorded with every step, beside the loss.
    finish(folder): called once after the training; may leave files in `folder`.
    """

    network: nn.Cell
    loss: Callable[[Tensor, Tensor], Tensor]
    train_data: Dataset
    optimizer: Any = None
    eval_data: Dataset | None = None
    metrics: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = field(default_factory=dict)
    before_batch: Callable[[int], None] = nothing_to_prepare
    watch: Callable[[], Mapping[str, float]] = nothing_to_watch
    finish: Callable[[Path], None] = nothing_to_finish


def build(config: Config) -> Recipe:
    module = importlib.import_module("ascend_engine.recipes." + config.recipe)
    return module.build(config)
