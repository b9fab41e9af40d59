"""What only torch can read, such as files older than 1.6: a child of an interpreter that has it writes them as .npy."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from backends.precision.dump.tensors import NEEDS_TORCH, TensorFile, open_tensor
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Sequence

SCRIPT = Path(__file__).parent / "child" / "save_npy.py"
SECONDS = 120.0
SPARE = 1 << 30
NO_TORCH = 10
NO_TENSOR = 11


def opened(path: Path, folder: Path, python: Sequence[str]) -> TensorFile:
    """By our own reader where that can, else by a child. Raises StudioError."""
    try:
        return open_tensor(path)
    except StudioError as error:
        if error.key != NEEDS_TORCH:
            raise
    return through_torch(path, folder, python)


def through_torch(path: Path, folder: Path, python: Sequence[str], *, seconds: float = SECONDS) -> TensorFile:
    """The tensor, as a file in `folder`. `python`: the interpreter that has torch. Raises StudioError."""
    target = folder / f"{sha256(bytes(path.absolute())).hexdigest()[:16]}.npy"
    octets = SPARE + 4 * path.stat().st_size
    argv = [*python, str(SCRIPT), str(path.absolute()), str(target.absolute()), str(octets)]
    environment = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "OMP_NUM_THREADS": "1"}
    try:
        ended = subprocess.run(
            argv, cwd=folder, env=environment, capture_output=True, text=True, errors="replace", timeout=seconds
        )
    except subprocess.TimeoutExpired:
        raise StudioError("precision.dump.child_too_slow", place=str(path), seconds=round(seconds)) from None
    except OSError as error:
        raise StudioError("precision.dump.child_failed", place=str(path), reason=str(error)) from None
    _check(ended, path, python)
    return replace(open_tensor(target), dtype=ended.stdout.strip())


def _check(ended: subprocess.CompletedProcess[str], path: Path, python: Sequence[str]) -> None:
    if not ended.returncode:
        return
    reason = (ended.stderr.strip().splitlines() or [""])[-1]
    if ended.returncode == NO_TORCH:
        raise StudioError("precision.dump.no_torch", place=str(path), python=python[0], reason=reason)
    if ended.returncode == NO_TENSOR:
        raise StudioError("precision.dump.no_tensor", place=str(path), type=reason)
    raise StudioError("precision.dump.child_failed", place=str(path), reason=reason)
