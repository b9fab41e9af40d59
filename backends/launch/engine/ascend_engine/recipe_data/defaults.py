"""What a recipe brings along in any framework: its data, and what it leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np


class Dataset(Protocol):
    """Samples by number: `data[numbers]` is the pair (inputs, labels), first dimension a batch."""

    def __len__(self) -> int: ...

    def __getitem__(self, numbers: np.ndarray, /) -> tuple[np.ndarray, np.ndarray]: ...


def nothing_to_watch() -> dict[str, float]:
    return {}


def nothing_to_prepare(sample: int) -> None:
    pass


def nothing_to_finish(folder: Path) -> None:
    pass
