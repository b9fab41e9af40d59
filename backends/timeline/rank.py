"""Of which rank a file is."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LEVELS = 5  # folders above a file in which its rank is looked for
_OF_DB = re.compile(r"profiler_(\d+)\.db$", re.I)
_OF_NOTE = re.compile(r"profiler_info_(\d+)\.json$")
_OF_NAME = re.compile(r"(?:^|[^a-z])rank[_\-.]?(\d+)(?!\d)", re.I)


def rank_of(path: Path) -> int | None:
    """By the name of the db, by the profiler's own note beside it, or by the names of the folders around it."""
    if named := _OF_DB.search(path.name) or _OF_NAME.search(path.name):
        return _number(named)
    for folder in list(path.absolute().parents)[:LEVELS]:
        if named := _noted(folder) or _OF_NAME.search(folder.name):
            return _number(named)
    return None


def _number(named: re.Match[str]) -> int | None:
    return int(named[1]) if len(named[1]) < 9 else None


def _noted(folder: Path) -> re.Match[str] | None:
    """One note only: a folder of several ranks has several."""
    try:
        notes = [named for name in os.listdir(folder) if (named := _OF_NOTE.match(name))]
    except OSError:
        return None
    return notes[0] if len(notes) == 1 else None
