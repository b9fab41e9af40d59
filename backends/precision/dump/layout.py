"""Where dumps lie: everything below what a person points at, whichever folder of it that is."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from backends.precision.dump.dump import Place
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = "dump.json"
TENSORS = "dump_tensor_data"
CAPTURES = Path("artifacts") / "captures"
DEPTH = 6
ENTRIES = 200_000
"""How many names are looked at before a folder is refused: somebody pointed at a whole disk."""

STEP = re.compile(r"step_?(\d{1,9})", re.IGNORECASE)
RANK = re.compile(r"rank_?(\d{1,9})?", re.IGNORECASE)
PROCESS = re.compile(r"proc_?(\d{1,19})", re.IGNORECASE)


def places(path: Path) -> tuple[Place, ...]:
    """All dumps below a folder (a dump's, a rank's, a step's, a capture's, a run's, or any that holds such), or the
    one that is a file, by step and rank. Raises StudioError where there is none."""
    path = path.absolute()
    if path.is_file():
        return (_place(path.parent, path.parent, path.name),)
    if not path.is_dir():
        raise StudioError("precision.dump.no_such_place", place=str(path))
    found = _of_newest_capture(path) or _below(path)
    if not found:
        raise StudioError("precision.dump.none_here", place=str(path))
    return tuple(sorted(_with_ranks(found), key=_order))


def _of_newest_capture(run: Path) -> list[Place]:
    if not (run / CAPTURES).is_dir():
        return []
    captures = [Path(entry.path) for entry in os.scandir(run / CAPTURES) if entry.is_dir()]
    for capture in sorted(captures, key=lambda one: (one.stat().st_mtime, one.name), reverse=True):
        if found := _below(capture):
            return found
    return []


def _below(path: Path) -> list[Place]:
    return [_place(Path(folder), path) for folder in _folders(path)]


def _folders(path: Path) -> Iterator[str]:
    """Folders with a dump.json, each once, whatever links there are."""
    seen: set[tuple[int, int]] = set()
    left = ENTRIES
    waiting = [(str(path), 0)]
    while waiting:
        folder, depth = waiting.pop()
        entries = _entries(folder, seen)
        left -= len(entries)
        if left < 0:
            raise StudioError("precision.dump.too_many_files", place=str(path), count=ENTRIES)
        if any(entry.name == FILE and entry.is_file() for entry in entries):
            yield folder
        if depth < DEPTH:
            waiting += [(entry.path, depth + 1) for entry in entries if entry.name != TENSORS and _is_folder(entry)]


def _entries(folder: str, seen: set[tuple[int, int]]) -> list[os.DirEntry[str]]:
    """What is in a folder; nothing where it was seen before or cannot be read."""
    try:
        found = os.stat(folder)  # noqa: PTH116 - a text is what scandir gave
        if (found.st_dev, found.st_ino) in seen:
            return []
        seen.add((found.st_dev, found.st_ino))
        with os.scandir(folder) as entries:
            return [entry for _, entry in zip(range(ENTRIES + 1), entries, strict=False)]
    except OSError:
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _place(folder: Path, pointed_at: Path, file: str = FILE) -> Place:
    """Step and rank from the nearest folders of such names, also above what was pointed at."""
    above = [folder, *folder.parents[:2]]
    rank_folder = next((one for one in above if RANK.fullmatch(one.name) or PROCESS.fullmatch(one.name)), None)
    step_folder = next((one for one in above if STEP.fullmatch(one.name)), None)
    named = RANK.fullmatch(rank_folder.name) if rank_folder else None
    step = STEP.fullmatch(step_folder.name) if step_folder else None
    top = [one.parent for one in (rank_folder, step_folder) if one]
    return Place(
        folder=folder,
        file=file,
        label=(rank_folder or folder).name,
        rank=int(named[1] or 0) if named else None,
        step=int(step[1]) if step else None,
        root=min(top, key=lambda one: len(one.parts)) if top else folder,
    )


def _with_ranks(found: list[Place]) -> Iterator[Place]:
    """Folders named by process number count as ranks in their order, after those that have one."""
    for place in found:
        if place.rank is not None or not PROCESS.fullmatch(place.label):
            yield place
            continue
        beside = [one for one in found if (one.root, one.step) == (place.root, place.step)]
        first = max((one.rank + 1 for one in beside if one.rank is not None), default=0)
        numbers = sorted({_process(one) for one in beside if PROCESS.fullmatch(one.label)})
        yield replace(place, rank=first + numbers.index(_process(place)))


def _process(place: Place) -> int:
    found = PROCESS.fullmatch(place.label)
    return int(found[1]) if found else 0


def _order(place: Place) -> tuple[str, int, int, str]:
    return (
        str(place.root),
        -1 if place.step is None else place.step,
        -1 if place.rank is None else place.rank,
        str(place.folder),
    )


def one_root(found: tuple[Place, ...]) -> None:
    """Raises StudioError where a step's rank is there more than once: several captures lie below the folder."""
    several = Counter((place.step, place.rank) for place in found if place.step is not None or place.rank is not None)
    if several and max(several.values()) > 1:
        roots = sorted({str(place.root) for place in found})
        raise StudioError("precision.dump.several", count=len(roots), first=roots[0], second=roots[-1])
