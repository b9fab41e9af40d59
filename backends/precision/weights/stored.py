"""A tensor inside a checkpoint of many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.precision.dump.tensor_file import TensorFile, bytes_of, in_order, is_possible
from studio.errors import StudioError

if TYPE_CHECKING:
    from pathlib import Path


def stored_tensor(path: Path, dtype: str, shape: tuple[int, ...], segments: tuple[tuple[int, int], ...]) -> TensorFile:
    """In C order. Raises StudioError where the bytes of the segments are not those of the shape."""
    if not is_possible(shape) or bytes_of(dtype, shape) != sum(size for _, size in segments):
        raise damaged_checkpoint(path)
    return TensorFile(path=path, dtype=dtype, shape=shape, strides=in_order(shape), segments=segments)


def damaged_checkpoint(path: Path) -> StudioError:
    return StudioError("precision.weights.damaged", place=str(path))
