"""Folders of steps and ranks that should hold a dump and do not: a rank that ended before msprobe wrote, a copy that
left some behind."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from backends.precision.dump.layout import DUMP_FILE, PROCESS, RANK, STEP
from backends.precision.dump.optimizer import OPTIMIZER_FILE
from studio import files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.precision.dump.dump import DumpLocation


MAX_STEPS = 10_000


class _RankCapture(msgspec.Struct):
    """What a capture of the studio wrote about one rank; `done` steps from `start` on are there."""

    kind: str = ""
    start: int = 0
    done: int = 0


def gaps(locations: Sequence[DumpLocation], top: Path, steps: frozenset[int] = frozenset()) -> tuple[str, ...]:
    """Return what is missing below `top`, where these dumps were found, as "step0/rank1"; `steps`: of these alone,
    empty for all."""
    passes = (*_missing_passes(locations), *_recorded_passes(locations, top, steps))
    missing = [f"step{step}/rank{rank}" for step, rank in passes]
    empty = [folder for folder in _empty_folders(locations, top) if not steps or _step_of(folder) in steps]
    names = [f"{folder.parent.name}/{folder.name}" for folder in empty]
    names += [folder.name for folder in _empty_steps(locations, top) if not steps or _step_in(folder.name) in steps]
    return tuple(dict.fromkeys((*names, *missing)))


def lacking_records(locations: Sequence[DumpLocation]) -> list[DumpLocation]:
    """Return the dumps without a record of the optimizer, where others of the same capture have one."""
    without = [location for location in locations if not (location.folder / OPTIMIZER_FILE).is_file()]
    return without if len(without) < len(locations) else []


def _empty_folders(locations: Sequence[DumpLocation], top: Path) -> list[Path]:
    """Return the folders named as a rank, beside those of these dumps, that have no dump."""
    parents = {folder.parent for folder in map(_rank_folder, locations) if folder is not None}
    ranks = dict.fromkeys(folder for parent in sorted(parents) for folder in _ranks_in(parent))
    return [folder for folder in ranks if folder.is_relative_to(top.absolute()) and not _has_dump(folder)]


def _empty_steps(locations: Sequence[DumpLocation], top: Path) -> Iterator[Path]:
    """Yield the folders named as a step, beside those of these dumps, that have nothing below them: msprobe makes the
    folder of a step as it begins."""
    steps = {parent for location in locations for parent in location.folder.parents[:2] if STEP.fullmatch(parent.name)}
    for root in sorted({step.parent for step in steps if step.parent.is_relative_to(top.absolute())}):
        named = [folder for folder in map(Path, _folders(root)) if STEP.fullmatch(folder.name)]
        yield from (folder for folder in named if not _folders(folder))


def _step_of(folder: Path) -> int:
    return _step_in(folder.parent.name)


def _step_in(name: str) -> int:
    match = STEP.fullmatch(name)
    return int(match[1]) if match else 0


def _missing_passes(locations: Sequence[DumpLocation]) -> tuple[tuple[int, int], ...]:
    """Return the steps and ranks that are missing although another step has the rank, and another rank the step."""
    passes = {(location.step or 0, location.rank or 0) for location in locations}
    steps, ranks = {step for step, _ in passes}, {rank for _, rank in passes}
    return tuple((step, rank) for step in sorted(steps) for rank in sorted(ranks) if (step, rank) not in passes)


def _recorded_passes(
    locations: Sequence[DumpLocation], top: Path, steps: frozenset[int]
) -> Iterator[tuple[int, int]]:  # fmt: skip
    """Yield the steps and ranks that a capture of the studio says it has written, and that are not there."""
    passes = {(location.root, location.step or 0, location.rank or 0) for location in locations}
    for root in dict.fromkeys(location.root for location in locations if location.root is not None):
        if not root.absolute().is_relative_to(top.absolute()):
            continue
        for path in sorted(root.glob("rank*.json")):
            recorded = files.read_as(path, _RankCapture)
            if recorded is None or not RANK.fullmatch(path.stem) or recorded.kind != "dump":
                continue
            rank = int(path.stem[4:] or 0)
            for step in range(recorded.start, recorded.start + min(recorded.done, MAX_STEPS)):
                if (root, step, rank) not in passes and (not steps or step in steps):
                    yield step, rank


def _rank_folder(location: DumpLocation) -> Path | None:
    folders = (location.folder, *location.folder.parents[:2])
    return next((folder for folder in folders if _is_rank(folder.name)), None)


def _is_rank(name: str) -> bool:
    return bool(RANK.fullmatch(name) or PROCESS.fullmatch(name))


def _ranks_in(parent: Path) -> list[Path]:
    """Return the folders of ranks in a folder; where it is that of a step, in all steps beside it."""
    steps = [parent]
    if STEP.fullmatch(parent.name):
        with suppress(OSError), os.scandir(parent.parent) as entries:
            steps = sorted(Path(entry.path) for entry in entries if STEP.fullmatch(entry.name) and entry.is_dir())
    return [Path(folder) for step in steps for folder in _folders(step) if _is_rank(Path(folder).name)]


def _folders(step: Path) -> list[str]:
    with suppress(OSError), os.scandir(step) as entries:
        return sorted(entry.path for entry in entries if entry.is_dir())
    return []


def _has_dump(folder: Path) -> bool:
    if (folder / DUMP_FILE).is_file():
        return True
    return any((Path(inner) / DUMP_FILE).is_file() for inner in _folders(folder))
