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
MAX_SECONDS = 600.0
POLL_SECONDS = 0.2
SPARE = 1 << 30
NO_TORCH = 10


class NoTorch(Exception):
    """The interpreter has none, or is none."""


def tensors_through_torch(
    paths: Sequence[Path],
    folder: Path,
    python: Sequence[str],
    report: Callable[[], None],
    *,
    seconds: float = MAX_SECONDS,
) -> dict[Path, TensorFile]:
    """Those of the tensors that torch can read, as files in `folder`; one child reads all. `python`: the command of the
    interpreter that has torch. `report` is called meanwhile, and may raise. Raises NoTorch."""
    targets = {path: folder / f"{number}.npy" for number, path in enumerate(paths)}
    request = json.dumps([[str(path.absolute()), str(target.absolute())] for path, target in targets.items()])
    max_bytes = SPARE + 4 * max(path.stat().st_size for path in paths)
    environment = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "OMP_NUM_THREADS": "1"}
    try:
        child = subprocess.Popen(
            [*python, str(SCRIPT), str(max_bytes)], cwd=folder, env=environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
        )  # fmt: skip
    except OSError as error:
        raise NoTorch from error
    reply = _talk(child, request, report, seconds)
    if child.returncode == NO_TORCH:
        raise NoTorch
    dtypes = dict(line.split(" ", 1) for line in reply.splitlines())
    return {
        path: replace(open_tensor(target), dtype=dtypes[str(number)])
        for number, (path, target) in enumerate(targets.items()) if str(number) in dtypes
    }  # fmt: skip


def _talk(child: subprocess.Popen[str], request: str, report: Callable[[], None], seconds: float) -> str:
    """What it said, when it has ended; nothing of it is left."""
    end = time.monotonic() + seconds
    line: str | None = request
    try:
        while True:
            try:
                return child.communicate(line, timeout=POLL_SECONDS)[0]
            except subprocess.TimeoutExpired:
                line = None
                report()
                if time.monotonic() > end:
                    child.kill()
    finally:
        child.kill()
        child.wait()
