"""A tensor inside a file of many, read in pieces."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.measure.formats import bfloat16, float8
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    from backends.precision.measure.formats import Array

STORED = {"bfloat16": "uint16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}
"""What lies in a file for dtypes that numpy lacks; they are given as float32."""

MOST_AXES = 32


@dataclass(frozen=True, kw_only=True)
class Stored:
    """`segments`: (begin, octets) in the file, one behind the other in C order, little-endian; their octets are those
    of the shape. Nothing is read before it is asked for."""

    path: Path
    dtype: str
    shape: tuple[int, ...]
    segments: tuple[tuple[int, int], ...]

    def chunks(self, count: int) -> Iterator[Array]:
        """`count` elements at a time, in one array that is filled again and again; bfloat16 and float8 as float32.
        Raises StudioError where the file became shorter or cannot be read."""
        stored = np.dtype(STORED.get(self.dtype, self.dtype))
        room = np.empty(count * stored.itemsize, np.uint8)
        try:
            with self.path.open("rb", buffering=0) as file:
                for octets in self._filled(file, room):
                    yield _numbers(octets.view(stored), self.dtype)
        except OSError as error:
            raise from_os(error, self.path) from error

    def _filled(self, file: BinaryIO, room: Array) -> Iterator[Array]:
        used = 0
        for begin, octets in self.segments:
            file.seek(begin)
            left = octets
            while left:
                wanted = min(left, len(room) - used)
                if file.readinto(room[used : used + wanted].data) != wanted:  # type: ignore[attr-defined]
                    raise damaged(self.path)
                used, left = used + wanted, left - wanted
                if used == len(room):
                    yield room
                    used = 0
        if used:
            yield room[:used]


def is_shape(shape: tuple[int, ...]) -> bool:
    """Whether numpy could have such an array."""
    return len(shape) <= MOST_AXES and all(0 <= length < 1 << 62 for length in shape)


def octets_of(dtype: str, shape: tuple[int, ...]) -> int:
    return math.prod(shape) * np.dtype(STORED.get(dtype, dtype)).itemsize


def damaged(path: Path) -> StudioError:
    return StudioError("precision.weights.damaged", place=str(path))


def _numbers(piece: Array, dtype: str) -> Array:
    if dtype == "bfloat16":
        return bfloat16(piece)
    return float8(dtype)[piece] if dtype in STORED else piece
