"""What the engine's `shapes` left: the cells or modules of a network with what went in and came out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from studio import files

if TYPE_CHECKING:
    from pathlib import Path

FILE = "artifacts/shapes.json"


@dataclass(frozen=True, kw_only=True)
class Tensor:
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, kw_only=True)
class Cell:
    """`parameters` and `trainable`: numbers of values, of this cell alone, without those inside it. `calls`: in one
    forward pass; a cell that was not called has neither inputs nor outputs."""

    name: str
    type: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    calls: int
    parameters: int
    trainable: int


@dataclass(frozen=True, kw_only=True)
class Shapes:
    """`batch`: samples of the micro batch that was seen. `inside`: the type that operators compute in where that shows
    neither in inputs nor in outputs, else ''."""

    recipe: str
    device: str
    batch: int
    amp: str
    inside: str
    parameters: int
    trainable: int
    cells: tuple[Cell, ...]


def read_shapes(folder: Path) -> Shapes | None:
    """None where the file is missing, damaged, or of another studio."""
    return files.read_as(folder / FILE, Shapes)


def text_of(tensors: tuple[Tensor, ...]) -> str:
    """'float32 4x1x8x8, int32 scalar'; '' for none."""
    return ", ".join(f"{tensor.dtype} {'x'.join(map(str, tensor.shape)) or 'scalar'}" for tensor in tensors)
