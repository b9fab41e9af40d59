"""The weights of a checkpoint as a file of torch.save, there whole or not at all:
python -m ascend_engine.pytorch.export --checkpoint FOLDER --out FILE.pth."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import torch

from ascend_engine.checkpoints import export_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np


def write(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """A new file with a state_dict, flushed and read back. Raises ValueError."""
    tensors = {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
    with path.open("xb") as file:
        torch.save(tensors, file)
        file.flush()
        os.fsync(file.fileno())
    back = torch.load(path, weights_only=True)
    if list(back) != list(tensors) or not all(torch.equal(back[name], tensor) for name, tensor in tensors.items()):
        raise ValueError("it does not read back as it was written")


if __name__ == "__main__":
    sys.exit(export_file.main("ascend_engine.pytorch.export", write))
