"""A tensor in a file, read in pieces."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.measure.formats import storage_dtype, widened
from studio import files
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    from numpy.typing import NDArray

READ_CHUNK = 1 << 16
MAX_DIMENSIONS = 32
MAX_ELEMENTS = 1 << 58


@dataclass(frozen=True, kw_only=True)
class TensorFile:
    """`strides` in elements; `segments`: (begin, bytes) in the file, one behind the other, of which there is more than
    one only in C order. Little-endian. Nothing is read before it is asked for."""

    path: Path
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    segments: tuple[tuple[int, int], ...]

    @property
    def count(self) -> int:
        return math.prod(self.shape)

    def chunks(self, count: int = READ_CHUNK) -> Iterator[NDArray[Any]]:
        """The elements in C order, `count` at a time, in one array that is filled again and again; what numpy has no
        dtype for as `formats.STORED` says. Raises StudioError where the file became shorter or cannot be read."""
        try:
            if self.strides == in_order(self.shape):
                yield from self._in_order(storage_dtype(self.dtype), count)
            else:
                yield from self._in_strides(storage_dtype(self.dtype), count)
        except OSError as error:
            raise from_os(error, self.path) from error

    def whole(self) -> NDArray[Any]:
        """In its shape, bfloat16 and float8 as float32; all of it in memory."""
        parts = list(self.chunks(max(1, self.count)))
        flat = parts[0] if parts else np.zeros(0, storage_dtype(self.dtype))
        return (flat if self.dtype == flat.dtype.name else widened(flat, self.dtype)).reshape(self.shape)

    def _in_order(self, dtype: np.dtype[Any], count: int) -> Iterator[NDArray[Any]]:
        room = np.empty(min(count, self.count) * dtype.itemsize, np.uint8)
        with files.open_regular(self.path) as file:
            for piece in self._filled(file, room):
                yield piece.view(dtype)

    def _filled(self, file: BinaryIO, room: NDArray[np.uint8]) -> Iterator[NDArray[np.uint8]]:
        used = 0
        for begin, length in self.segments:
            file.seek(begin)
            left = length
            while left:
                size = min(left, len(room) - used)
                if file.readinto(room[used : used + size].data) != size:  # type: ignore[attr-defined]
                    raise damaged_tensor(self.path)
                used, left = used + size, left - size
                if used == len(room):
                    yield room
                    used = 0
        if used:
            yield room[:used]

    def _in_strides(self, dtype: np.dtype[Any], count: int) -> Iterator[NDArray[Any]]:
        """Over a memory map; as slow as its strides are."""
        if not self.count:
            return
        flat = np.memmap(self.path, dtype=dtype, mode="r", offset=self.segments[0][0], shape=(self._span(),))
        strides = tuple(stride * dtype.itemsize for stride in self.strides)
        view = np.lib.stride_tricks.as_strided(flat, self.shape, strides, writeable=False)
        for begin in range(0, self.count, count):
            yield np.asarray(view.flat[begin : begin + count])

    def _span(self) -> int:
        return 1 + sum((length - 1) * stride for length, stride in zip(self.shape, self.strides, strict=True))


def in_order(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of C order, in elements."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def is_possible(shape: tuple[int, ...]) -> bool:
    """Also one without elements has dimensions that numpy can count."""
    return (
        len(shape) <= MAX_DIMENSIONS
        and all(length >= 0 for length in shape)
        and math.prod(max(1, length) for length in shape) < MAX_ELEMENTS
    )


def bytes_of(dtype: str, shape: tuple[int, ...]) -> int:
    return math.prod(shape) * storage_dtype(dtype).itemsize


def damaged_tensor(path: Path) -> StudioError:
    return StudioError("precision.dump.tensor_damaged", place=str(path))
