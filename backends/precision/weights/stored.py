"""A tensor inside a checkpoint of many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.precision.dump.tensor_file import TensorFile, in_order, is_possible, octets_of
from studio.errors import StudioError

if TYPE_CHECKING:
    from pathlib import Path


def tensor(path: Path, dtype: str, shape: tuple[int, ...], segments: tuple[tuple[int, int], ...]) -> TensorFile:
    """In C order. Raises StudioError where the octets of the segments are not those of the shape."""
    if not is_possible(shape) or octets_of(dtype, shape) != sum(octets for _, octets in segments):
        raise damaged(path)
    return TensorFile(path=path, dtype=dtype, shape=shape, strides=in_order(shape), segments=segments)


def damaged(path: Path) -> StudioError:
    return StudioError("precision.weights.damaged", place=str(path))
