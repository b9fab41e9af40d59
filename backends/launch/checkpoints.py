"""What is known of a run's checkpoints without reading them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from studio import files

if TYPE_CHECKING:
    from pathlib import Path

_STEP = re.compile(r"step-(\d{1,18})-")


def step_of(folder: Path) -> int | None:
    """The step of a run's last checkpoint, None where it has none."""
    try:
        name = files.read_bytes(folder / "artifacts" / "checkpoints" / "last").decode("utf-8", "replace")
    except OSError:
        return None
    match = _STEP.match(name.strip())
    return int(match[1]) if match else None
