"""Batches of MindSpore that can only be gone through: a pipeline of `mindspore.dataset`, or a function that returns an
iterator of batches."""

from __future__ import annotations

import hashlib
import inspect
import itertools
import random
from typing import TYPE_CHECKING, Any

import numpy as np
from mindspore import Tensor, dataset
from mindspore.dataset.engine import datasets as nodes

from ascend_engine.batches.sequence import Batches, check_options
from ascend_engine.data import Arrays
from ascend_engine.datasets import narrow
from ascend_engine.failures import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ascend_engine.options import Config

BATCHING = (nodes.BatchDataset, nodes.PaddedBatchDataset, nodes.BucketBatchByLengthDataset)


class Source:
    """Each epoch draws from generators that begin with its own number: MindSpore's of the pipeline, and those of numpy
    and Python, which functions of a recipe draw from."""

    can_jump = True

    def __init__(self, opened: Callable[[int], Iterator[Any]], seed: int):
        """opened(n): the batches of an epoch without the first n."""
        self.opened = opened
        self.seed = seed

    def begin(self, epoch: int, skipped: int) -> Iterator[Any]:
        number = int(np.random.SeedSequence([self.seed, epoch]).generate_state(1)[0])
        random.seed(number)
        np.random.seed(number)
        dataset.config.set_seed(number)
        return self.opened(skipped)

    def following(self, batches: Iterator[Any]) -> Any:
        return next(batches)

    def arrays(self, batch: Any) -> tuple[np.ndarray, np.ndarray]:
        return arrays_of(batch)


def arrays_of(batch: Any) -> tuple[np.ndarray, np.ndarray]:
    """A batch as the pair (inputs, labels). Raises Failure for anything else."""
    pair = tuple(batch) if isinstance(batch, (tuple, list)) else ()
    arrays = [part.asnumpy() if isinstance(part, Tensor) else part for part in pair]
    if len(arrays) != 2 or not all(isinstance(array, np.ndarray) and array.ndim for array in arrays):
        types = ", ".join(type(part).__name__ for part in pair) or type(batch).__name__
        raise Failure("launch.torch_batch", got=types)
    return narrow(arrays[0]), narrow(arrays[1])


def batches_of(source: Any, config: Config) -> Batches | None:
    """Batches of what can only be gone through; None for what is read by number."""
    if isinstance(source, nodes.Dataset):
        pipeline = source if is_batched(source) else source.batch(config.batch)
        return of_source(lambda skipped: rows_of(pipeline, skipped), type(leaf_of(source)).__name__, config)
    if inspect.isgenerator(source) or (hasattr(source, "__next__") and not hasattr(source, "__len__")):
        raise Failure("launch.torch_data_once", type=type(source).__name__)
    if callable(source) and not hasattr(source, "__len__"):
        name = getattr(source, "__qualname__", type(source).__name__)
        return of_source(lambda skipped: itertools.islice(source(), skipped, None), name, config)
    return None


def of_source(opened: Callable[[int], Iterator[Any]], name: str, config: Config) -> Batches:
    check_options(config)
    source = Source(opened, config.seed)
    batch = len(arrays_of(next(source.begin(0, 0), None))[0])
    digest = hashlib.sha256(f"{name} {batch}".encode()).hexdigest()
    return Batches(source, 0, batch, digest)


def rows_of(pipeline: Any, skipped: int) -> Iterator[Any]:
    pipeline = pipeline.skip(skipped) if skipped else pipeline
    return iter(pipeline.create_tuple_iterator(num_epochs=1, output_numpy=True))


def leaf_of(pipeline: Any) -> Any:
    while pipeline.children:
        pipeline = pipeline.children[0]
    return pipeline


def is_batched(pipeline: Any) -> bool:
    return isinstance(pipeline, BATCHING) or any(map(is_batched, pipeline.children))


def in_memory(source: Any, config: Config) -> Any:
    """The samples of a pipeline as arrays, which an evaluation can share out by number; anything else as it is."""
    if not isinstance(source, nodes.Dataset):
        return source
    pairs = [arrays_of(row) for row in rows_of(source if is_batched(source) else source.batch(config.batch), 0)]
    if not pairs:
        raise Failure("launch.data_empty", which="eval_data")
    inputs, labels = (np.concatenate(arrays) for arrays in zip(*pairs, strict=True))
    return Arrays(inputs, labels)
