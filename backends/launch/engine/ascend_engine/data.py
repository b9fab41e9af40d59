"""Which samples a step sees: a function of seed and position alone, so that any step can be redone.

The samples come as one endless stream, epoch after epoch, each in an order of
its own. Step s of B samples takes the positions [s B, (s + 1) B), however it
is split into micro batches; a batch may span two epochs and none is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascend_engine.recipe import Dataset


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


def sample_numbers(size: int, seed: int, begin: int, end: int) -> np.ndarray:
    """Numbers of the samples at positions [begin, end) of the stream over `size` samples."""
    positions = np.arange(begin, end)
    epochs, places = np.divmod(positions, size)
    numbers = np.empty_like(positions)
    for epoch in np.unique(epochs):
        inside = epochs == epoch
        numbers[inside] = epoch_order(size, seed, int(epoch))[places[inside]]
    return numbers


def micro_batches(
    data: Dataset, seed: int, step: int, batch: int, accumulate: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The `accumulate` micro batches of step `step`, counted from 0."""
    begin = step * batch * accumulate
    for start in range(begin, begin + batch * accumulate, batch):
        yield data[sample_numbers(len(data), seed, start, start + batch)]
