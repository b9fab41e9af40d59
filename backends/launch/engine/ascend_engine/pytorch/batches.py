"""Batches that can only be gone through, as the samples of a training: a DataLoader, an IterableDataset, or a function
that returns an iterator of batches.

What they draw at random comes from generators of their own, which begin anew with each epoch from seed and epoch alone.
So a resumed training finds its place by going through the epoch again, and computes the same bits.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import random
from typing import TYPE_CHECKING, Any

import ascend_studio
import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset

from ascend_engine.failures import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ascend_engine.options import Config


class Batches:
    """Micro batches by number, each asked for once, in order: `batches[number]`. Of several readers each takes every
    n-th one."""

    def __init__(self, iterable: Callable[[], Iterator[Any]], size: int, batch: int, seed: int, digest: str):
        """`size`: samples of an epoch, 0 where that is not known; `batch`: samples of a micro batch."""
        self.iterable = iterable
        self.size = size
        self.batch = batch
        self.seed = seed
        self.digest = digest
        self.reader = 0
        self.readers = 1
        self.epoch = 0
        self.position = 0  # of the next batch
        self.generators = Generators(seed, 0)
        self.iterator: Iterator[Any] | None = None

    def __len__(self) -> int:
        return self.size

    def shared(self, reader: int, readers: int) -> Batches:
        self.reader, self.readers = reader, readers
        return self

    def first_sample(self, number: int) -> int:
        """Position of the first sample of micro batch `number`, if all batches are full."""
        return (number * self.readers + self.reader) * self.batch

    def __getitem__(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        target = number * self.readers + self.reader
        while self.position < target:
            self._next()
        return arrays_of(self._next())

    def _next(self) -> Any:
        with self.generators.current():
            for _ in range(2):
                if self.iterator is None:
                    self.iterator = iter(self.iterable())
                try:
                    batch = next(self.iterator)
                except StopIteration:
                    self.epoch += 1
                    self.iterator = None
                    self.generators.begin(self.seed, self.epoch)
                    continue
                self.position += 1
                return batch
        raise Failure("launch.data_empty", which="train_data")


class Generators:
    """The states of torch's, numpy's and Python's generators that the batches draw from."""

    def __init__(self, seed: int, epoch: int):
        self.states: tuple[Any, ...] = ()
        self.begins = (seed, epoch)

    def begin(self, seed: int, epoch: int) -> None:
        """Draw from here on what follows from these numbers."""
        number = int(np.random.SeedSequence([seed, epoch]).generate_state(1)[0])
        torch.manual_seed(number)
        random.seed(number)
        np.random.seed(number)

    @contextlib.contextmanager
    def current(self) -> Iterator[None]:
        """Within it the batches' generators are in use, behind it the training's again."""
        others = states()
        if self.states:
            restore(self.states)
        else:
            self.begin(*self.begins)
        try:
            yield
        finally:
            self.states = states()
            restore(others)


def states() -> tuple[Any, ...]:
    return torch.get_rng_state(), random.getstate(), np.random.get_state()


def restore(generator_states: tuple[Any, ...]) -> None:
    of_torch, of_python, of_numpy = generator_states
    torch.set_rng_state(of_torch)
    random.setstate(of_python)
    np.random.set_state(of_numpy)


def arrays_of(batch: Any) -> tuple[np.ndarray, np.ndarray]:
    """A batch as the pair (inputs, labels). Raises Failure for anything else."""
    pair = tuple(batch) if isinstance(batch, (tuple, list)) else ()
    arrays = [part.numpy() if isinstance(part, torch.Tensor) else part for part in pair]
    if len(arrays) != 2 or not all(isinstance(array, np.ndarray) and array.ndim for array in arrays):
        types = ", ".join(type(part).__name__ for part in pair) or type(batch).__name__
        raise Failure("launch.torch_batch", got=types)
    return arrays[0], arrays[1]


def batches_of(source: Any, config: Config) -> Batches | None:
    """Batches of what can only be gone through; None for what is read by number."""
    if isinstance(source, IterableDataset):
        source = DataLoader(source, batch_size=config.batch)
    if isinstance(source, DataLoader):
        size = 0 if isinstance(source.dataset, IterableDataset) else len(source.dataset)  # type: ignore[arg-type]
        return of_iterable(lambda: iter(source), size, source.batch_size, type(source.dataset).__name__, config)
    if inspect.isgenerator(source) or (hasattr(source, "__next__") and not hasattr(source, "__len__")):
        raise Failure("launch.torch_data_once", type=type(source).__name__)
    if callable(source) and not hasattr(source, "__len__"):
        return of_iterable(source, 0, None, getattr(source, "__qualname__", type(source).__name__), config)
    return None


def of_iterable(
    iterable: Callable[[], Iterator[Any]], size: int, batch: int | None, name: str, config: Config
) -> Batches:
    """Raises Failure for options that would have to read by number."""
    idle = {"--data-workers": config.data_workers, "--drop-remainder": config.drop_remainder}
    if any(idle.values()):
        raise Failure("launch.torch_data_options", options=", ".join(flag for flag, value in idle.items() if value))
    if batch is None:
        with Generators(config.seed, 0).current():
            batch = len(arrays_of(next(iter(iterable()), None))[0])
    digest = hashlib.sha256(f"{name} {size} {batch}".encode()).hexdigest()
    return Batches(iterable, size, batch, config.seed, digest)


def config_for(data: Any, config: Config) -> Config:
    """The options of a training whose batches have a size of their own."""
    if not isinstance(data, Batches) or data.batch == config.batch:
        return config
    ascend_studio.note("launch.torch_own_batch", batch=data.batch, chosen=config.batch)
    return config.replace(batch=data.batch)
