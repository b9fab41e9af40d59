"""Numbers that come for hours: columns whose memory does not grow with them."""

from __future__ import annotations

import os
import tempfile
import weakref
from array import array
from bisect import bisect_left, bisect_right
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from studio import paths

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 1024
"""Numbers of a block."""
ITEM = 8
"""Bytes of a number."""
SMALLEST = 64
"""Numbers that a column has room for at first."""
IN_MEMORY = -1
"""Stands for a block that no file took."""


class BlockFile:
    """Blocks of BLOCK numbers in a file of the cache that has no name, so that nothing is left over, whatever is
    killed. For one thread at a time.
    """

    def __init__(self) -> None:
        self._descriptor: int | None = None
        self._count = 0
        self._released: list[int] = []

    def write(self, block: NDArray[Any]) -> int:
        """Store a block and return its number. Raises OSError: no room, or no folder to write to."""
        if self._descriptor is None:
            self._descriptor = _open_nameless()
            weakref.finalize(self, os.close, self._descriptor)
        number = self._released[-1] if self._released else self._count
        if os.pwrite(self._descriptor, block.data, number * BLOCK * ITEM) != block.nbytes:
            raise OSError("The disk is full.")
        if self._released:
            self._released.pop()
        else:
            self._count += 1
        return number

    def read(self, number: int, begin: int, end: int) -> bytes:
        """Return the bytes of the numbers from `begin` to `end` of a block. Raises OSError."""
        assert self._descriptor is not None
        return os.pread(self._descriptor, (end - begin) * ITEM, (number * BLOCK + begin) * ITEM)

    def release(self, number: int) -> None:
        """Another block may take its place."""
        self._released.append(number)


def _open_nameless() -> int:
    folder = paths.cache_home()
    folder.mkdir(parents=True, exist_ok=True)
    descriptor, path = tempfile.mkstemp(prefix="points-", dir=folder)
    Path(path).unlink()
    return descriptor


class Column:
    """An array of int64 or float64 that grows at its end. With a file only its last block is in memory, and those that
    the file had no room for.
    """

    def __init__(self, dtype: type, file: BlockFile | None = None) -> None:
        self.size = 0
        self._file = file
        self._numbers = array("q")
        self._in_memory: dict[int, NDArray[Any]] = {}
        self._last: NDArray[Any] = np.empty(min(SMALLEST, BLOCK), dtype)

    def extend(self, values: NDArray[Any]) -> None:
        while len(values):
            begin = self.size % BLOCK
            part = values[: BLOCK - begin]
            end = begin + len(part)
            if end > len(self._last):
                self._grow(min(BLOCK, max(end, 2 * len(self._last))))
            self._last[begin:end] = part
            self.size += len(part)
            if end == BLOCK:
                self._store()
            values = values[len(part) :]

    def _grow(self, room: int) -> None:
        last = np.empty(room, self._last.dtype)
        last[: len(self._last)] = self._last
        self._last = last

    def _store(self) -> None:
        """Move the last block, which is full, to the file, or among those in memory."""
        number = IN_MEMORY
        if self._file is not None:
            with suppress(OSError):
                number = self._file.write(self._last)
        if number == IN_MEMORY:
            self._in_memory[len(self._numbers)] = self._last
            self._last = np.empty(BLOCK, self._last.dtype)
        self._numbers.append(number)

    def read(self, begin: int, end: int) -> NDArray[Any]:
        """Return a copy of the items from `begin` to `end`; as a slice, no more than there are."""
        end = min(end, self.size)
        parts: list[NDArray[Any]] = []
        while begin < end:
            block, first = divmod(begin, BLOCK)
            last = min(BLOCK, first + end - begin)
            parts.append(self._part(block, first, last))
            begin += last - first
        return np.concatenate(parts) if parts else self._last[:0]

    def _part(self, block: int, begin: int, end: int) -> NDArray[Any]:
        if block == len(self._numbers):
            return self._last[begin:end]
        if (number := self._numbers[block]) == IN_MEMORY:
            return self._in_memory[block][begin:end]
        assert self._file is not None
        return np.frombuffer(self._file.read(number, begin, end), self._last.dtype)

    def item(self, index: int) -> Any:
        """Return one item as a Python number."""
        block, place = divmod(index, BLOCK)
        return self._part(block, place, place + 1)[0].item()

    def search(self, value: float, side: Literal["left", "right"]) -> int:
        """Return the index that `numpy.searchsorted` gives. The items must never fall."""
        bisect = bisect_left if side == "left" else bisect_right
        if not self.size:
            return 0
        block = (self.size - 1) // BLOCK
        if value <= self.item(block * BLOCK):
            block = max(0, bisect(range(block + 1), value, key=lambda block: self.item(block * BLOCK)) - 1)
        part = self._part(block, 0, min(BLOCK, self.size - block * BLOCK))
        return block * BLOCK + int(np.searchsorted(part, part.dtype.type(value), side))

    def cut(self, size: int) -> None:
        """Keep the first `size` items."""
        if size >= self.size:
            return
        block, place = divmod(size, BLOCK)
        if block < len(self._numbers):
            last = self._part(block, 0, place)
            self._last = np.empty(BLOCK, self._last.dtype)
            self._last[:place] = last
        for dropped in range(block, len(self._numbers)):
            if self._in_memory.pop(dropped, None) is None and self._file is not None:
                self._file.release(self._numbers[dropped])
        del self._numbers[block:]
        self.size = size
