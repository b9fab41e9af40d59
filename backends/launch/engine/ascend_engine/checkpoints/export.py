"""The weights of a checkpoint as MindSpore's own file, there whole or not at all:
python -m ascend_engine.checkpoints.export --checkpoint FOLDER --out FILE.ckpt."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import mindspore as ms
from mindspore import Tensor

from ascend_engine.checkpoints import export_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np

READABLE = 0o644  # save_checkpoint leaves a file that its owner alone may read, and nobody write


def write(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """A new file, flushed and read back. Raises ValueError."""
    ms.save_checkpoint([{"name": name, "data": Tensor(array.copy())} for name, array in arrays.items()], str(path))
    path.chmod(READABLE)
    with path.open("r+b") as file:
        os.fsync(file.fileno())
    back = ms.load_checkpoint(str(path))
    if list(back) != list(arrays) or not all(_is_same(back[name].asnumpy(), array) for name, array in arrays.items()):
        raise ValueError("it does not read back as it was written")


def _is_same(array: np.ndarray, other: np.ndarray) -> bool:
    return (array.dtype, array.shape, array.tobytes()) == (other.dtype, other.shape, other.tobytes())


if __name__ == "__main__":
    sys.exit(export_file.main("ascend_engine.checkpoints.export", write))
