"""Runs as they were at an earlier step."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def earlier_state(run: Path, folder: Path, step: int) -> Path:
    """A copy of a run as if its checkpoint of `step` were the last."""
    shutil.copytree(run, folder)
    checkpoints = folder / "artifacts" / "checkpoints"
    (name,) = (path.name for path in checkpoints.glob(f"step-{step:06d}-*"))
    (checkpoints / "last").write_text(name)
    return folder
