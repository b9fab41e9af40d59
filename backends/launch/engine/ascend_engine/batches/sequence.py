"""Batches that can only be gone through, as the samples of a training, whatever the framework is.

What they draw at random begins anew with each epoch, from seed and epoch alone. So a resumed training finds its place
by going through its epoch again, and computes the same bits; that it did is seen by the batch before.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, Protocol

import ascend_studio
import numpy as np

from ascend_engine.failures import Failure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ascend_engine.options import Config

REMEMBERED = 4096
"""Batches whose place is known: a framework may have read this far ahead when a checkpoint is taken."""


class Source(Protocol):
    """`can_jump`: an epoch begins alike whether those before it were gone through or not."""

    can_jump: bool

    def begin(self, epoch: int, skipped: int) -> Iterator[Any]:
        """The batches of an epoch without the first `skipped` ones, which only one that can jump leaves out."""

    def following(self, batches: Iterator[Any]) -> Any:
        """The next of them. Raises StopIteration."""

    def arrays(self, batch: Any) -> tuple[np.ndarray, np.ndarray]:
        """A batch as the pair (inputs, labels). Raises Failure for anything else."""


class Batches:
    """Micro batches by number, each asked for once, in order: `batches[number]`. Of several readers each takes every
    n-th one."""

    def __init__(self, source: Source, size: int, batch: int, digest: str):
        """`size`: samples of an epoch, 0 where that is not known; `batch`: samples of a micro batch."""
        self.source = source
        self.size = size
        self.batch = batch
        self.digest = digest
        self.reader = 0
        self.readers = 1
        self.epoch = 0
        self.begun_at = 0  # position of the epoch's first batch
        self.position = 0  # of the next batch
        self.iterator: Iterator[Any] | None = None
        self.places: dict[int, tuple[int, int, int]] = {}  # by number: epoch, where it began, checksum

    def __len__(self) -> int:
        return self.size

    def shared(self, reader: int, readers: int) -> Batches:
        self.reader, self.readers = reader, readers
        return self

    def first_sample(self, number: int) -> int:
        """Position of the first sample of micro batch `number`, if all batches are full."""
        return self._position_of(number) * self.batch

    def _position_of(self, number: int) -> int:
        return number * self.readers + self.reader

    def __getitem__(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        while self.position < self._position_of(number):
            self._next()
        arrays = self.source.arrays(self._next())
        self.places[number] = self.epoch, self.begun_at, checksum(arrays)
        self.places.pop(number - REMEMBERED, None)
        return arrays

    def _next(self) -> Any:
        for _ in range(2):
            if self.iterator is None:
                self.iterator = self.source.begin(self.epoch, self.position - self.begun_at)
            try:
                batch = self.source.following(self.iterator)
            except StopIteration:
                self.iterator = None
                self.epoch += 1
                self.begun_at = self.position
                continue
            self.position += 1
            return batch
        raise Failure("launch.data_empty", which="train_data")

    def place(self, number: int) -> dict[str, int]:
        """Where the micro batch before `number` was, in JSON's own types; {} before the first."""
        if number - 1 not in self.places:
            return {}
        epoch, begun_at, check = self.places[number - 1]
        return {"epoch": epoch, "begun_at": begun_at, "checksum": check, "readers": self.readers}

    def go_to(self, number: int, place: dict[str, int]) -> bool:
        """Let `number` be the next micro batch. Returns whether the one before it is the one that `place` tells of.
        Ranks behind the first cannot know: the place is of its batch."""
        if not place or place["readers"] != self.readers:
            return False
        if self.source.can_jump:
            self.epoch, self.begun_at = place["epoch"], place["begun_at"]
            self.position = (number - 1) * self.readers  # of the first rank's batch, which is in this epoch
        return checksum(self[number - 1]) == place["checksum"] or self.reader > 0


def checksum(arrays: tuple[np.ndarray, ...]) -> int:
    total = 0
    for array in arrays:
        total = zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data, total)
    return total


def config_for(data: Any, config: Config) -> Config:
    """The options of a training whose batches have a size of their own."""
    if not isinstance(data, Batches) or data.batch == config.batch:
        return config
    ascend_studio.note("launch.torch_own_batch", batch=data.batch, chosen=config.batch)
    return config.replace(batch=data.batch)


def check_options(config: Config) -> None:
    """Raises Failure for options that would have to read by number."""
    idle = {"--data-workers": config.data_workers, "--drop-remainder": config.drop_remainder}
    if any(idle.values()):
        raise Failure("launch.torch_data_options", options=", ".join(flag for flag, value in idle.items() if value))
