"""Where dumps lie: everything below what a person points at, whichever folder of it that is."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from backends.precision.dump.dump import DumpLocation
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator

DUMP_FILE = "dump.json"
TENSOR_FOLDER = "dump_tensor_data"
CAPTURES = Path("artifacts") / "captures"
MAX_DEPTH = 6
MAX_ENTRIES = 200_000
"""How many names are looked at before a folder is refused: somebody pointed at a whole disk."""

STEP = re.compile(r"step_?(\d{1,9})", re.IGNORECASE)
RANK = re.compile(r"rank_?(\d{1,9})?", re.IGNORECASE)
PROCESS = re.compile(r"proc_?(\d{1,19})", re.IGNORECASE)


def find_dumps(path: Path) -> tuple[DumpLocation, ...]:
    """All dumps below a folder (a dump's, a rank's, a step's, a capture's, a run's, or any that holds such), or the
    one that is a file, by step and rank. Raises StudioError where there is none."""
    path = path.absolute()
    if path.is_file():
        return (_location(path.parent, path.parent, path.name),)
    if not path.is_dir():
        raise StudioError("precision.dump.no_such_place", place=str(path))
    locations = _of_newest_capture(path) or _below(path)
    if not locations:
        raise StudioError("precision.dump.none_here", place=str(path))
    return tuple(sorted(_with_ranks(locations), key=_order))


def _of_newest_capture(run: Path) -> list[DumpLocation]:
    if not (run / CAPTURES).is_dir():
        return []
    captures = [Path(entry.path) for entry in os.scandir(run / CAPTURES) if entry.is_dir()]
    for capture in sorted(
        captures, key=lambda capture_folder: (capture_folder.stat().st_mtime, capture_folder.name), reverse=True
    ):
        if locations := _below(capture):
            return locations
    return []


def _below(path: Path) -> list[DumpLocation]:
    return [_location(Path(folder), path) for folder in _folders(path)]


def _folders(path: Path) -> Iterator[str]:
    """Folders with a dump.json, each once, whatever links there are."""
    visited: set[tuple[int, int]] = set()
    left = MAX_ENTRIES
    waiting = [(str(path), 0)]
    while waiting:
        folder, depth = waiting.pop()
        entries = _entries(folder, visited)
        left -= len(entries)
        if left < 0:
            raise StudioError("precision.dump.too_many_files", place=str(path), count=MAX_ENTRIES)
        if any(entry.name == DUMP_FILE and entry.is_file() for entry in entries):
            yield folder
        if depth < MAX_DEPTH:
            waiting += [
                (entry.path, depth + 1) for entry in entries if entry.name != TENSOR_FOLDER and _is_folder(entry)
            ]


def _entries(folder: str, visited: set[tuple[int, int]]) -> list[os.DirEntry[str]]:
    """What is in a folder; nothing where it was seen before or cannot be read."""
    try:
        status = os.stat(folder)  # noqa: PTH116 - a text is what scandir gave
        if (status.st_dev, status.st_ino) in visited:
            return []
        visited.add((status.st_dev, status.st_ino))
        with os.scandir(folder) as entries:
            return [entry for _, entry in zip(range(MAX_ENTRIES + 1), entries, strict=False)]
    except OSError:
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _location(folder: Path, pointed_at: Path, file: str = DUMP_FILE) -> DumpLocation:
    """Step and rank from the nearest folders of such names, also above what was pointed at."""
    above = [folder, *folder.parents[:2]]
    rank_folder = next(
        (parent for parent in above if RANK.fullmatch(parent.name) or PROCESS.fullmatch(parent.name)), None
    )
    step_folder = next((parent for parent in above if STEP.fullmatch(parent.name)), None)
    named = RANK.fullmatch(rank_folder.name) if rank_folder else None
    step = STEP.fullmatch(step_folder.name) if step_folder else None
    top = [parent.parent for parent in (rank_folder, step_folder) if parent]
    return DumpLocation(
        folder=folder,
        file=file,
        label=(rank_folder or folder).name,
        rank=int(named[1] or 0) if named else None,
        step=int(step[1]) if step else None,
        root=min(top, key=lambda parent: len(parent.parts)) if top else folder,
    )


def _with_ranks(locations: list[DumpLocation]) -> Iterator[DumpLocation]:
    """Folders named by process number count as ranks in their order, after those that have one."""
    for location in locations:
        if location.rank is not None or not PROCESS.fullmatch(location.label):
            yield location
            continue
        siblings = [other for other in locations if (other.root, other.step) == (location.root, location.step)]
        first = max((other.rank + 1 for other in siblings if other.rank is not None), default=0)
        numbers = sorted({_process(other) for other in siblings if PROCESS.fullmatch(other.label)})
        yield replace(location, rank=first + numbers.index(_process(location)))


def _process(location: DumpLocation) -> int:
    match = PROCESS.fullmatch(location.label)
    return int(match[1]) if match else 0


def _order(location: DumpLocation) -> tuple[str, int, int, str]:
    return (
        str(location.root),
        -1 if location.step is None else location.step,
        -1 if location.rank is None else location.rank,
        str(location.folder),
    )


def refuse_several_captures(locations: tuple[DumpLocation, ...]) -> None:
    """Raises StudioError where a step's rank is there more than once: several captures lie below the folder."""
    several = Counter(
        (location.step, location.rank)
        for location in locations
        if location.step is not None or location.rank is not None
    )
    if several and max(several.values()) > 1:
        roots = sorted({str(location.root) for location in locations})
        raise StudioError("precision.dump.several", count=len(roots), first=roots[0], second=roots[-1])
