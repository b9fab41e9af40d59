"""Whether what was dropped is what a profiler wrote: by its name, of a file also by its first bytes."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from backends.timeline.sniff import looks_like
from studio.errors import StudioError

if TYPE_CHECKING:
    from pathlib import Path

LOOKED_AT = 400
_FOLDER = re.compile(
    r".*_ascend_(?:pt|ms)|PROF_\w+|ASCEND_PROFILER_OUTPUT|mindstudio_profiler_output|cluster_analysis_output"
    r"|\d{6}-profile-\w+"
)
_FILE = re.compile(
    r"trace_view\.json|msprof\w*\.(?:json|db)|.*\.pt\.trace\.json(?:\.gz)?|ascend_(?:pytorch|mindspore)_profiler\w*\.db"
    r"|(?:cluster_)?analysis\.db|communication_analyzer\.db"
)
_SUFFIXES = (".json", ".gz", ".db")
_TABLES = (".csv", ".json")


def is_profile(path: Path) -> bool:
    if path.is_dir():
        return bool(_FOLDER.fullmatch(path.name))
    return bool(_FILE.fullmatch(path.name)) or (path.suffix in _SUFFIXES and _begins_as_one(path)) or _is_table(path)


def _begins_as_one(path: Path) -> bool:
    """Any other database is none: those of training frameworks look the same at their beginning."""
    try:
        return looks_like(path, within=True) == "text"
    except OSError:
        return False


def _is_table(path: Path) -> bool:
    """One that stands for itself, without a trace: kernel_details.csv, communication.json."""
    if path.suffix not in _TABLES:
        return False
    from backends.timeline.find import find_sources  # with numpy: not before the window is there

    with suppress(OSError, StudioError):
        return any(found.path == path and found.kind == "analysis" for found in find_sources(path))
    return False


def holds_profile(folder: Path) -> bool:
    """Whether there is one in it, or in a folder of it."""
    with suppress(OSError), os.scandir(folder) as entries:
        seen = list(islice(entries, LOOKED_AT))
        return any(_is_one(entry) for entry in seen) or any(map(_has_one, seen))
    return False


def _has_one(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):
        if entry.is_dir(follow_symlinks=False):
            with os.scandir(entry.path) as entries:
                return any(_is_one(one) for one in islice(entries, LOOKED_AT))
    return False


def _is_one(entry: os.DirEntry[str]) -> bool:
    try:
        return bool((_FOLDER if entry.is_dir() else _FILE).fullmatch(entry.name))
    except OSError:
        return False
