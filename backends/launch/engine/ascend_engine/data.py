"""Which samples a step sees: a function of seed and position alone, so that any step can be redone.

The samples come as one endless stream, epoch after epoch, each in an order of
its own. Step s of B samples takes the positions [s B, (s + 1) B), however it
is split into micro batches and over workers. A step may span two epochs, unless
each epoch ends with its last whole step.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ascend_engine.failures import Failure

if TYPE_CHECKING:
    from ascend_engine.options import Config
    from ascend_engine.recipe_data.defaults import Dataset


@dataclass(frozen=True)
class Arrays:
    """A data set in memory: inputs and labels of the same length."""

    inputs: np.ndarray
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.inputs[numbers], self.labels[numbers]


@lru_cache(maxsize=2)  # a batch spans at most two epochs, unless it is longer than one
def epoch_order(size: int, seed: int, epoch: int) -> np.ndarray:
    """The order of `size` samples in an epoch. Sorts raw Philox bits, which numpy keeps stable."""
    keys = np.random.Philox(key=[seed, epoch]).random_raw(size)
    return np.argsort(keys, kind="stable")


def sample_numbers(size: int, used: int, seed: int, begin: int, end: int) -> np.ndarray:
    """Numbers of the samples at positions [begin, end) of the stream: the first `used` of each epoch's order over
    `size` samples."""
    positions = np.arange(begin, end)
    epochs, places = np.divmod(positions, used)
    numbers = np.empty_like(positions)
    for epoch in np.unique(epochs):
        inside = epochs == epoch
        numbers[inside] = epoch_order(size, seed, int(epoch))[places[inside]]
    return numbers


def used_of_epoch(size: int, config: Config) -> int:
    """Samples of an epoch that are trained with. Raises Failure where there is not one whole step in an epoch that
    leaves its remainder out."""
    if not config.drop_remainder:
        return size
    if size < config.samples_per_step:
        raise Failure("launch.nothing_whole", samples=size, batch=config.samples_per_step)
    return size - size % config.samples_per_step


@dataclass(frozen=True)
class Stream:
    """The micro batches of one worker by number, counted from 0 at the beginning of the training.

    Workers take neighbouring parts of a larger one: n of them with B samples each see together what one process
    with n B samples sees.
    """

    data: Dataset
    seed: int
    batch: int  # samples of this worker's micro batch
    used: int  # samples of an epoch
    rank: int
    workers: int

    def first_sample(self, number: int) -> int:
        """Position of the first sample of micro batch `number`."""
        return (number * self.workers + self.rank) * self.batch

    def __getitem__(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        begin = self.first_sample(number)
        return self.data[sample_numbers(len(self.data), self.used, self.seed, begin, begin + self.batch)]


def stream(data: Dataset, config: Config, rank: int = 0, workers: int = 1) -> Stream:
    """What worker `rank` of those that share the data reads."""
    return Stream(data, config.seed, config.batch, used_of_epoch(len(data), config), rank, workers)
