"""Where a program may have written checkpoints: what the hooks noted, and what lies below the folders that it names."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backends.launch.own.resume.folders import entries_of
from backends.launch.own.resume.torch_content import HalfWritten
from studio import files

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from backends.launch.own.resume.folders import Entries

SUFFIXES = (".pt", ".pth", ".ckpt", ".tar", ".bin", ".model", ".pkl", ".chkpt", ".checkpoint", ".safetensors")
MAX_ENTRIES = 200_000
MAX_DEPTH = 6
SKIPPED = {"node_modules", "__pycache__", "site-packages", "venv", "env", "wandb", "mlruns"}
_ZIP = b"PK\3\4"
_OLD_FORM = b"\x80"
"""With what files of torch.save before 1.6, and those of Python's own way to keep objects, begin."""


@dataclass(frozen=True, kw_only=True)
class Span:
    """When a run worked, ns since the epoch: what it wrote has a time in it. `end`: None where nobody knows it."""

    begin: int
    end: int | None

    def holds(self, time: int) -> bool:
        return self.begin <= time and (self.end is None or time <= self.end)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """`time`: when it was last written. `folder`: None of a file. `noted`: when the hooks saw it whole, 0 where they
    did not."""

    path: Path
    time: int
    folder: Entries | None = None
    noted: int = 0


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """Candidates, newest first. `is_partial`: not all below `folders` was looked at. `overwritten`: paths that the run
    wrote, and something else after it."""

    candidates: tuple[Candidate, ...]
    folders: tuple[Path, ...]
    overwritten: tuple[Path, ...] = ()
    is_partial: bool = False


def search(roots: Iterable[Path], noted: Mapping[Path, int], span: Span) -> SearchResult:
    """Look below `roots`, and in the folders of what was noted. Reads names and times, of files without a known suffix
    nothing; the studio's own folders and other hidden ones are passed over."""
    walk = _Walk(span)
    folders = tuple(dict.fromkeys((*roots, *(path.parent for path in noted))))
    walk.look_below(folders)
    for path, time in noted.items():
        walk.add(path, time)
    ordered = sorted(walk.candidates.values(), key=lambda candidate: candidate.time, reverse=True)
    return SearchResult(
        candidates=tuple(ordered), folders=folders, overwritten=tuple(walk.overwritten), is_partial=walk.is_partial
    )


class _Walk:
    def __init__(self, span: Span) -> None:
        self.candidates: dict[Path, Candidate] = {}
        self.overwritten: list[Path] = []
        self._span = span
        self._visited: set[Path] = set()
        self._left = MAX_ENTRIES

    @property
    def is_partial(self) -> bool:
        return self._left < 0

    def look_below(self, folders: Iterable[Path]) -> None:
        """Level by level, so that one large folder of data does not hide all others."""
        level = list(folders)
        for _ in range(MAX_DEPTH):
            level = [inside for folder in level for inside in self._look_into(folder)]

    def _look_into(self, folder: Path) -> list[Path]:
        """Return the folders in a folder that are to be looked into."""
        if folder in self._visited or self._left < 0:
            return []
        self._visited.add(folder)
        if self._add_folder(folder):
            return []
        try:
            entries = list(os.scandir(folder))
        except OSError:
            return []
        self._left -= len(entries)
        for entry in entries:
            if entry.name.lower().endswith(SUFFIXES) and entry.is_file(follow_symlinks=False):
                self._add_file(Path(entry.path), 0)
        names = (entry for entry in entries if entry.is_dir(follow_symlinks=False))
        return [Path(entry.path) for entry in names if not entry.name.startswith(".") and entry.name not in SKIPPED]

    def add(self, path: Path, noted: int) -> None:
        """Add what was noted: a folder, a file in the folder of a checkpoint, or a file by itself."""
        if path.is_dir():
            self._add_folder(path, noted)
        elif not self._add_folder(path.parent, noted):
            self._add_file(path, noted)

    def _add_folder(self, path: Path, noted: int = 0) -> bool:
        """Return whether a folder is a checkpoint, whichever run it is of."""
        entries = entries_of(path)
        if entries is None or entries.kind is None:
            return False
        self._add(Candidate(path=path, time=entries.time, folder=entries, noted=noted))
        return True

    def _add_file(self, path: Path, noted: int) -> None:
        try:
            status = path.stat(follow_symlinks=False)
        except (OSError, ValueError):
            return
        if stat.S_ISREG(status.st_mode):
            self._add(Candidate(path=path, time=status.st_mtime_ns, noted=noted))

    def _add(self, candidate: Candidate) -> None:
        if self._span.holds(candidate.time):
            known = self.candidates.get(candidate.path)
            if known is None or candidate.noted > known.noted:
                self.candidates[candidate.path] = candidate
        elif candidate.noted and candidate.time > self._span.begin:
            self.overwritten.append(candidate.path)


def form_of(path: Path) -> str:
    """Return how a file of a candidate is written: "zip" as torch.save does, "old" as it did before 1.6, "" in another
    way. Raises OSError, and HalfWritten where it is empty."""
    with files.open_regular(path) as file:
        start = file.read(4)
    if not start:
        raise HalfWritten
    return "zip" if start.startswith(_ZIP) else "old" if start.startswith(_OLD_FORM) else ""
