"""This host, from files alone: no tool is run, no driver is loaded."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Machine:
    """This host. `cores`: those that this process may use; `memory` in bytes, 0 where unknown."""

    cores: int
    memory: int


def machine() -> Machine:
    return Machine(cores=len(os.sched_getaffinity(0)), memory=_memory())


def _memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return 0


def free_space(folder: Path) -> int | None:
    """Return the free bytes where a folder is, or would be made; None where that is unknown."""
    existing = next((path for path in (folder, *folder.parents) if path.exists()), None)
    try:
        return shutil.disk_usage(existing).free if existing else None
    except OSError:
        return None
