"""The weights of a checkpoint as MindSpore's own file, there whole or not at all:
python -m ascend_engine.checkpoints.export --checkpoint FOLDER --out FILE.ckpt."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import ascend_studio
import mindspore as ms
from mindspore import Tensor

from ascend_engine import failures
from ascend_engine.checkpoints import checkpoint
from ascend_engine.checkpoints.checkpoint import Damaged
from ascend_engine.failures import Failure

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

READABLE = 0o644  # save_checkpoint leaves a file that its owner alone may read, and nobody write


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m ascend_engine.checkpoints.export", allow_abbrev=False)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    try:
        export(arguments.checkpoint, arguments.out)
    except Exception as error:
        failures.report(error)
        return 1
    return 0


def export(folder: Path, out: Path) -> None:
    """Write the weights in a checkpoint's folder to `out`; a file of that name is replaced at the very end. Raises
    Failure."""
    try:
        saved = checkpoint.read(folder)
    except Damaged as error:
        raise Failure("launch.checkpoint_damaged", name=folder.name, reason=str(error)) from error
    making = out.with_name(f".{out.stem}.{secrets.token_hex(4)}.ckpt")
    try:
        _write(making, saved.weights)
        making.replace(out)
        checkpoint.flush_folder(out.parent)
    except (OSError, RuntimeError, ValueError) as error:
        raise Failure("launch.export_failed", file=str(out), error=failures.first_line(error)) from error
    finally:
        making.unlink(missing_ok=True)
    ascend_studio.artifact("ckpt", out)
    ascend_studio.note("launch.exported", file=str(out), step=saved.step, count=len(saved.weights))
    print(f"{len(saved.weights)} parameters of step {saved.step} in {out}")


def _write(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """A new file, flushed and read back."""
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
    sys.exit(main())
