"""Whether a path is what a profiler wrote: by its name, of a file also by its first bytes."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from backends.timeline.file_signature import looks_like
from studio.errors import StudioError

if TYPE_CHECKING:
    from pathlib import Path

MAX_ENTRIES = 400
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


def is_profile_path(path: Path) -> bool:
    if path.is_dir():
        return bool(_FOLDER.fullmatch(path.name))
    return bool(_FILE.fullmatch(path.name)) or (path.suffix in _SUFFIXES and _is_trace(path)) or _is_table(path)


def _is_trace(path: Path) -> bool:
    """A database of another name is none: those of training frameworks begin with the same bytes."""
    try:
        return looks_like(path, within=True) == "text"
    except OSError:
        return False


def _is_table(path: Path) -> bool:
    """A table that is read without a trace: kernel_details.csv, communication.json."""
    if path.suffix not in _TABLES:
        return False
    from backends.timeline.source_discovery import find_sources  # with numpy: not before the window is there

    with suppress(OSError, StudioError):
        return any(source.path == path and source.kind == "analysis" for source in find_sources(path))
    return False


def holds_profile(folder: Path) -> bool:
    """Whether there is one in a folder, or in a folder of it."""
    with suppress(OSError), os.scandir(folder) as entries:
        children = list(islice(entries, MAX_ENTRIES))
        return any(map(_is_named, children)) or any(map(_holds_named, children))
    return False


def _holds_named(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):
        if entry.is_dir(follow_symlinks=False):
            with os.scandir(entry.path) as entries:
                return any(map(_is_named, islice(entries, MAX_ENTRIES)))
    return False


def _is_named(entry: os.DirEntry[str]) -> bool:
    try:
        return bool((_FOLDER if entry.is_dir() else _FILE).fullmatch(entry.name))
    except OSError:
        return False
