"""Captures: which folders belong together, where a script captured its ranks several times."""

from __future__ import annotations

import os
import re
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from backends.timeline.file_signature import head_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

APART = 60.0  # seconds: two hosts may both have a rank 0, and start together
EARLIEST_CLOCK = 1e9  # seconds since 1970 below which a time is none of the clock
_FOLDER = re.compile(r"(.+)_(\d{14})\d*_ascend_(?:pt|ms)$")
_TIME = re.compile(rb'"ts"\s*:\s*"?(\d{1,19})')


@dataclass(frozen=True, kw_only=True)
class Unit:
    """What one process collected at one time. `time`: its beginning, in seconds. `process`: "" where the name does not
    tell."""

    folder: Path
    rank: int | None
    time: float
    process: str


@dataclass(frozen=True, kw_only=True)
class Capture:
    units: tuple[Unit, ...]
    name: str

    @property
    def members(self) -> set[tuple[Path, int | None]]:
        return {(unit.folder, unit.rank) for unit in self.units}


def newest(files: Sequence[tuple[Path, int | None, Path]], root: Path) -> tuple[Capture, tuple[Capture, ...]]:
    """Return the capture that began last, and the others, newest first. `files`: folder of the collection,
    rank, file."""
    firsts: dict[tuple[Path, int | None], Path] = {}
    for folder, rank, file in files:
        firsts.setdefault((folder, rank), file)
    if not _may_repeat([rank for folder, rank in firsts if _counts(folder, rank)]):
        return Capture(units=(), name=""), ()
    units = [_unit(folder, rank, file) for (folder, rank), file in firsts.items() if _counts(folder, rank)]
    alike = [Unit(folder=folder, rank=rank, time=0, process="") for folder, rank in firsts if not _counts(folder, rank)]
    lines = _split(sorted(units, key=lambda unit: (unit.time, str(unit.folder))))
    last, *others = [Capture(units=tuple(line), name=_name(line, root)) for line in reversed(lines)]
    return Capture(units=(*last.units, *alike), name=last.name), tuple(others)


def _counts(folder: Path, rank: int | None) -> bool:
    """Return whether a trace can repeat another: traces of unknown rank may well belong together, as may the devices of
    msprof."""
    return not folder.name.startswith("PROF_") and (rank is not None or _FOLDER.match(folder.name) is not None)


def _may_repeat(ranks: Sequence[int | None]) -> bool:
    return len(set(ranks)) < len(ranks)


def _split(units: Sequence[Unit]) -> list[list[Unit]]:
    """Split where the pause between two units of the same rank is longest."""
    lines: list[list[Unit]] = []
    line: list[Unit] = []
    for unit in units:
        before = [number for number, other in enumerate(line) if _is_again(other, unit)]
        line.append(unit)
        if before:
            cut = max(range(before[-1] + 1, len(line)), key=lambda at: line[at].time - line[at - 1].time)
            lines.append(line[:cut])
            line = line[cut:]
    return [*lines, line]


def _is_again(before: Unit, after: Unit) -> bool:
    same = bool(before.process) and before.process == after.process and before.folder != after.folder
    return before.rank == after.rank and (same or after.time - before.time > APART)


def _unit(folder: Path, rank: int | None, file: Path) -> Unit:
    named = _FOLDER.match(folder.name)
    stamp = _stamp(named[2]) if named else None
    process = named[1] if named else ""
    return Unit(folder=folder, rank=rank, time=_begin(file) if stamp is None else stamp, process=process)


def _stamp(digits: str) -> float | None:
    with suppress(ValueError, OverflowError):
        return time.mktime(time.strptime(digits, "%Y%m%d%H%M%S"))
    return None


def _begin(file: Path) -> float:
    """Return the time of the first event, or of the file itself where the events do not tell the clock time."""
    with suppress(OSError, ValueError, TypeError):
        first = _first_of_db(file) if file.suffix == ".db" else _first_of_text(file)
        if first > EARLIEST_CLOCK:
            return first
    with suppress(OSError):
        return file.stat().st_mtime
    return 0.0


def _first_of_text(file: Path) -> float:
    return max((int(match[1]) / 1e6 for match in _TIME.finditer(head_of(file))), default=0.0)


def _first_of_db(file: Path) -> float:
    """Read the first time of a database as immutable: neither is a journal next to it touched nor is the file copied,
    as `db.opening` does."""
    import sqlite3

    address = f"file:{quote(os.fsencode(file.absolute()))}?immutable=1"
    with suppress(sqlite3.Error), closing(sqlite3.connect(address, uri=True)) as base:
        row = base.execute("SELECT min(startTimeNs) FROM SESSION_TIME_INFO").fetchone()
        return int(row[0]) / 1e9
    return 0.0


def _name(units: Sequence[Unit], root: Path) -> str:
    """Name a capture by the folder that contains it alone, else by the folder of its first rank."""
    common = os.path.commonpath([unit.folder for unit in units])
    name = os.path.relpath(common, root)
    return os.path.relpath(units[0].folder, root) if name in (".", "..") else name
