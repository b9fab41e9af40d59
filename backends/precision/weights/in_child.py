"""What only torch can read, such as files older than 1.6: a child of an interpreter that has it writes it anew."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from backends.precision.weights.safetensors import read_safetensors
from studio.errors import StudioError

if TYPE_CHECKING:
    from backends.precision.weights.stored import Stored

SCRIPT = Path(__file__).parent / "child" / "save_weights.py"
SECONDS = 1800.0
SPARE = 2 << 30
NO_TORCH = 10
NO_TENSORS = 11


def through_torch(path: Path, target: Path, python: Path) -> dict[str, Stored]:
    """The tensors, written to `target`. `python`: the interpreter that has torch. Raises StudioError."""
    octets = SPARE + 4 * path.stat().st_size
    argv = [str(python), str(SCRIPT), str(path.absolute()), str(target), str(octets)]
    environment = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "OMP_NUM_THREADS": "1"}
    try:
        ended = subprocess.run(
            argv, cwd=target.parent, env=environment, capture_output=True, text=True, errors="replace", timeout=SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StudioError("precision.weights.child_failed", place=str(path), reason=str(error)[:300]) from None
    _check(ended, path, python)
    return read_safetensors(target)


def _check(ended: subprocess.CompletedProcess[str], path: Path, python: Path) -> None:
    if not ended.returncode:
        return
    reason = (ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}"])[-1][:300]
    if ended.returncode == NO_TORCH:
        raise StudioError("precision.weights.no_torch", place=str(path), python=str(python))
    if ended.returncode == NO_TENSORS:
        raise StudioError("precision.weights.no_tensors", place=str(path))
    raise StudioError("precision.weights.child_failed", place=str(path), reason=reason)
