"""What only torch can read, such as files older than 1.6: a child of an interpreter that has it writes them as .npy."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from backends.precision.dump.tensors import open_tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from backends.precision.dump.tensor_file import TensorFile

SCRIPT = Path(__file__).parent / "child" / "save_npy.py"
SECONDS = 600.0
LOOK = 0.2
SPARE = 1 << 30
NO_TORCH = 10


class NoTorch(Exception):
    """The interpreter has none, or is none."""


def through_torch(
    paths: Sequence[Path], folder: Path, python: Sequence[str], told: Callable[[], None], *, seconds: float = SECONDS
) -> dict[Path, TensorFile]:
    """Those of the tensors that torch can read, as files in `folder`; one child reads all. `python`: the command of the
    interpreter that has torch. `told` is called meanwhile, and may raise. Raises NoTorch."""
    made = {path: folder / f"{number}.npy" for number, path in enumerate(paths)}
    asked = json.dumps([[str(path.absolute()), str(target.absolute())] for path, target in made.items()])
    octets = SPARE + 4 * max(path.stat().st_size for path in paths)
    environment = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "OMP_NUM_THREADS": "1"}
    try:
        child = subprocess.Popen(
            [*python, str(SCRIPT), str(octets)], cwd=folder, env=environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
        )  # fmt: skip
    except OSError as error:
        raise NoTorch from error
    said = _talk(child, asked, told, seconds)
    if child.returncode == NO_TORCH:
        raise NoTorch
    dtypes = dict(line.split(" ", 1) for line in said.splitlines())
    return {
        path: replace(open_tensor(target), dtype=dtypes[str(number)])
        for number, (path, target) in enumerate(made.items()) if str(number) in dtypes
    }  # fmt: skip


def _talk(child: subprocess.Popen[str], asked: str, told: Callable[[], None], seconds: float) -> str:
    """What it said, when it has ended; nothing of it is left."""
    end = time.monotonic() + seconds
    given: str | None = asked
    try:
        while True:
            try:
                return child.communicate(given, timeout=LOOK)[0]
            except subprocess.TimeoutExpired:
                given = None
                told()
                if time.monotonic() > end:
                    child.kill()
    finally:
        child.kill()
        child.wait()
