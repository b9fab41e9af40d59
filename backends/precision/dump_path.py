"""Whether a path is a dump of msprobe, by the names in it alone."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MAX_ENTRIES = 400
MAX_DEPTH = 3
_DUMP = "dump.json"
_FOLDER = re.compile(r"step_?\d+|rank_?\d*|proc_?\d+", re.IGNORECASE)


def is_dump_path(path: Path) -> bool:
    """Whether it is a dump.json, a folder that holds one, or folders of steps and ranks that do."""
    if path.name == _DUMP and path.is_file():
        return True
    return path.is_dir() and _holds_dump(path, MAX_DEPTH)


def _holds_dump(folder: Path, depth: int) -> bool:
    """Only folders that are named as steps or ranks are entered."""
    if (folder / _DUMP).is_file():
        return True
    if not depth:
        return False
    with suppress(OSError), os.scandir(folder) as entries:
        names = [entry.name for entry in islice(entries, MAX_ENTRIES) if _FOLDER.fullmatch(entry.name)]
        return any(_holds_dump(folder / name, depth - 1) for name in names)
    return False
