"""Checkpoints of divided weights that are brought together nowhere: each rank writes its own rows into the one file.

FSDP2 divides each tensor by its first dimension, so that what a rank holds is one run of bytes of a safetensors file.
The files are those that one process writes, so all that reads a checkpoint reads these too, and any number of
processes resumes from them. `async_save` of torch.distributed.checkpoint would leave a folder of parts instead, whose
table is read by executing it.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import distributed
from torch.distributed.tensor import DTensor, Shard

from ascend_engine.checkpoints import checkpoint, safetensors
from ascend_engine.checkpoints.checkpoint import Damaged
from ascend_engine.checkpoints.keeper import FOLDER
from ascend_engine.pytorch.shards import part

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from concurrent.futures import Future
    from pathlib import Path

    from torch import Tensor

    from ascend_engine.checkpoints.checkpoint import Saved

LONGEST_NAME = 128  # bytes of the name of a folder


@dataclass(frozen=True)
class Rows:
    """The rows of a tensor that a rank holds, from `begin` on; `shape` is that of the whole, as are `nbytes`."""

    values: np.ndarray
    shape: tuple[int, ...]
    begin: int

    @property
    def dtype(self) -> np.dtype:
        return self.values.dtype

    @property
    def nbytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    @property
    def offset(self) -> int:
        """Bytes of the rows before."""
        return self.begin * int(np.prod(self.shape[1:], dtype=np.int64)) * self.dtype.itemsize


def rows_of(tensor: Tensor) -> np.ndarray | Rows:
    """A copy of what this rank holds; numpy has no bfloat16, float32 holds each of its values. torch divides rows as
    torch.chunk does."""
    values = part(tensor.detach())
    array = (values.float() if values.dtype == torch.bfloat16 else values).cpu().numpy().copy()
    if not isinstance(tensor, DTensor) or not any(placement.is_shard() for placement in tensor.placements):
        return array
    if tuple(tensor.placements) != (Shard(0),):
        raise ValueError(f"divided by {tensor.placements}, not by rows")
    size, count = tensor.device_mesh.size(), tensor.shape[0]
    begin = min(tensor.device_mesh.get_local_rank() * -(-count // size), count)
    return Rows(array, tuple(tensor.shape), begin)


class RowFiles:
    """One of the ranks that write a checkpoint together, in a thread of each and by a group of their own, so that the
    training goes on meanwhile. Rank 0 makes the files and names them; nothing counts until all have written."""

    def __init__(self, rank: int):
        self.rank = rank
        self.group = distributed.new_group(backend="gloo")
        self.thread = ThreadPoolExecutor(1, "rows")
        self.writing: Future[None] | None = None
        self.is_named = False

    def write(self, making: Path, files: Mapping[str, Mapping[str, np.ndarray | Rows]]) -> dict[str, str]:
        """On rank 0: new files in `making`, with the sha256 of each as the disk gives it back. Raises OSError, and
        Damaged where another rank could not write its rows."""
        for name, arrays in files.items():
            _make_file(f"{making}/{name}", arrays)
        self._name(making.name)
        error = self._write_rows(making, files)
        has_all = self._agree(error is None)
        if error is not None:
            raise error
        if not has_all:
            raise Damaged("another rank could not write its part")
        return {name: _digest_of(f"{making}/{name}") for name in files}

    def release(self) -> None:
        """On rank 0, after each checkpoint: where it failed before it had a name, the others wait for one."""
        if not self.is_named:
            self._name("")
        self.is_named = False

    def follow(self, saved: Saved) -> None:
        """On the other ranks: write the rows of this one where rank 0 says."""
        self.wait()
        self.writing = self.thread.submit(self._follow, saved)

    def wait(self) -> None:
        if self.writing is not None:
            self.writing.result()

    def _follow(self, saved: Saved) -> None:
        """A rank that is gone ends the training by itself; that its checkpoint failed is told by rank 0."""
        try:
            name = self._name("")
            if name:
                error = self._write_rows(FOLDER / name, saved.files)
                self._agree(error is None)
                if error is not None:
                    print(f"no rows of rank {self.rank} at step {saved.step}: {error}")
        except Damaged as error:
            print(f"no rows of rank {self.rank} at step {saved.step}: {error}")

    def _write_rows(self, making: Path, files: Mapping[str, Mapping[str, np.ndarray | Rows]]) -> Exception | None:
        """What each rank holds of divided tensors, and rank 0 the others. Returns what went wrong."""
        try:
            for name, arrays in files.items():
                _write_runs(f"{making}/{name}", list(self._runs(arrays)))
        except (OSError, Damaged) as error:
            return error
        return None

    def _runs(self, arrays: Mapping[str, np.ndarray | Rows]) -> Iterator[tuple[int, memoryview]]:
        """Each with the place where it begins in the file."""
        _, places = safetensors.layout(arrays)
        for name, array in arrays.items():
            if isinstance(array, Rows):
                yield places[name] + array.offset, _bytes_of(array.values)
            elif self.rank == 0:
                yield places[name], _bytes_of(array)

    def _name(self, text: str) -> str:
        """What rank 0 says; all ranks call this."""
        content = np.zeros(LONGEST_NAME, np.uint8)
        content[: len(text)] = np.frombuffer(text.encode("ascii"), np.uint8)
        tensor = torch.from_numpy(content)
        try:
            distributed.broadcast(tensor, 0, group=self.group)
        except RuntimeError as error:
            raise Damaged("another rank is gone") from error
        self.is_named = True
        return bytes(tensor.tolist()).rstrip(b"\0").decode("ascii")

    def _agree(self, is_written: bool) -> bool:
        """Whether all ranks have written; all ranks call this."""
        count = torch.tensor([int(is_written)])
        try:
            distributed.all_reduce(count, group=self.group)
        except RuntimeError as error:
            raise Damaged("another rank is gone") from error
        return count.item() == distributed.get_world_size()


def _bytes_of(array: np.ndarray) -> memoryview:
    return memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8))


def _make_file(path: str, arrays: Mapping[str, np.ndarray | Rows]) -> None:
    """A new file of the whole size with its header. Raises OSError."""
    header, places = safetensors.layout(arrays)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, checkpoint.READABLE)
    try:
        size = max((places[name] + array.nbytes for name, array in arrays.items()), default=len(header))
        os.posix_fallocate(descriptor, 0, size)  # a full disk is known now
        os.pwrite(descriptor, header, 0)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_runs(path: str, runs: list[tuple[int, memoryview]]) -> None:
    """Written, flushed and read back. Raises OSError, and Damaged where the disk gives back something else."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        for begin, content in runs:
            done = 0
            while done < len(content):
                done += os.pwrite(descriptor, content[done : done + (1 << 30)], begin + done)
        os.fsync(descriptor)
        checkpoint.forget_pages(descriptor)
        if any(not _reads_back(descriptor, begin, content) for begin, content in runs):
            raise Damaged(f"{path} does not read back as it was written")
    finally:
        os.close(descriptor)


def _reads_back(descriptor: int, begin: int, content: memoryview) -> bool:
    places = range(0, len(content), checkpoint.CHUNK)
    return all(
        os.pread(descriptor, len(content[place : place + checkpoint.CHUNK]), begin + place)
        == content[place : place + checkpoint.CHUNK]
        for place in places
    )


def _digest_of(path: str) -> str:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return checkpoint.digest_on_disk(descriptor)
    finally:
        os.close(descriptor)
