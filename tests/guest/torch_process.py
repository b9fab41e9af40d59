"""Torch trainings in processes of their own, and the records that they leave."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

from studio.paths import GUEST

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def environment(run: Path | None) -> dict[str, str]:
    """Of a training in `run`, or outside the studio."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    kept |= {"PYTHONDONTWRITEBYTECODE": "1", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "OMP_NUM_THREADS": "1"}
    if run is None:
        return kept
    return kept | {"PYTHONPATH": str(GUEST), "ASCEND_STUDIO_RUN": str(run), "ASCEND_STUDIO_HOOKS": "curves"}


def execute(line: Iterable[str | Path], run: Path | None, cwd: Path) -> str:
    done = subprocess.run(
        list(map(str, line)),
        env=environment(run),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
