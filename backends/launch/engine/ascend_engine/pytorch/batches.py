"""Batches of PyTorch that can only be gone through: a DataLoader, an IterableDataset, or a function that returns an
iterator of batches.

What they draw at random comes from generators of their own, which begin anew with each epoch from seed and epoch alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset

from ascend_engine.batches.sequence import Batches, check_options
from ascend_engine.failures import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ascend_engine.options import Config


class Source:
    """What `iterable` gives for each epoch. Workers that outlive an epoch go on drawing where they were, so that only
    going through all of them again is the same."""

    can_jump = False

    def __init__(self, iterable: Callable[[], Iterator[Any]], seed: int):
        self.iterable = iterable
        self.seed = seed
        self.generators = Generators(seed, 0)

    def begin(self, epoch: int, skipped: int) -> Iterator[Any]:
        if epoch:
            self.generators = Generators(self.seed, epoch)
        with self.generators.current():
            return iter(self.iterable())

    def following(self, batches: Iterator[Any]) -> Any:
        with self.generators.current():
            return next(batches)

    def arrays(self, batch: Any) -> tuple[np.ndarray, np.ndarray]:
        return arrays_of(batch)


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
    check_options(config)
    if batch is None:
        with Generators(config.seed, 0).current():
            batch = len(arrays_of(next(iter(iterable()), None))[0])
    digest = hashlib.sha256(f"{name} {size} {batch}".encode()).hexdigest()
    return Batches(Source(iterable, config.seed), size, batch, digest)
