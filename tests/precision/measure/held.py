"""Tensors of tests: held in memory, or lying in a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.dump.tensor_file import TensorFile, in_order

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True)
class Held:
    array: np.ndarray[Any, Any]
    dtype: str
    shape: tuple[int, ...]

    def chunks(self, count: int) -> Iterator[np.ndarray[Any, Any]]:
        flat = self.array.reshape(-1)
        for begin in range(0, len(flat), count):
            yield flat[begin : begin + count]


def held(values: Any, dtype: str = "") -> Held:
    array = np.asarray(values)
    return Held(array, dtype or array.dtype.name, array.shape)


def in_file(path: Path, array: np.ndarray[Any, Any], dtype: str = "") -> TensorFile:
    array.tofile(path)
    return TensorFile(
        path=path, dtype=dtype or array.dtype.name, shape=array.shape, strides=in_order(array.shape),
        segments=((0, array.nbytes),),
    )  # fmt: skip
