"""A torch Dataset as the samples of a training: read by number, in the order of the training's own stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.utils.data import DataLoader, IterableDataset, default_collate
from torch.utils.data import Dataset as TorchDataset

from ascend_engine.failures import Failure

if TYPE_CHECKING:
    import numpy as np


class MapDataset:
    """`data[numbers]` is the pair (inputs, labels) of arrays that default_collate makes of the samples."""

    def __init__(self, source: TorchDataset[Any]):
        self.source = source

    def __len__(self) -> int:
        return len(self.source)  # type: ignore[arg-type]

    def __getitem__(self, numbers: np.ndarray) -> Any:
        batch = default_collate([self.source[int(number)] for number in numbers])
        return tuple(part.numpy() for part in batch) if isinstance(batch, (tuple, list)) else batch


def by_number(which: str, source: Any) -> Any:
    """A torch Dataset, or that of a DataLoader, made readable by numbers; anything else as it is. Raises Failure for
    one that can only be gone through."""
    if isinstance(source, DataLoader):
        source = source.dataset
    if isinstance(source, IterableDataset):
        raise Failure("launch.torch_data_iterable", which=which)
    return MapDataset(source) if isinstance(source, TorchDataset) else source
