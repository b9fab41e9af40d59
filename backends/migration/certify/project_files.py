"""The files of a project, as far as a rehearsal needs them."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

SKIPPED_NAMES = frozenset((
    ".git", ".hg", ".svn", ".ascend-studio", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache",
    "node_modules",
))  # fmt: skip
MIN_LINKED_BYTES = 64 << 20
"""Data files of at least this many bytes are linked rather than copied."""
# Suffixes of data that no training opens for writing; a linked checkpoint or log would be overwritten.
DATA_SUFFIXES = frozenset((
    ".7z", ".arrow", ".avi", ".bz2", ".gz", ".h5", ".hdf5", ".lmdb", ".mat", ".mkv", ".mp4", ".npy", ".parquet",
    ".rar", ".tar", ".tfrecord", ".tgz", ".wav", ".xz", ".zip", ".zst",
))  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ProjectEntry:
    """An entry of a project's folder. `path`: relative, with "/"; `kind`: shared entries are linked from the copy,
    link is a symbolic link of the project's own; `changed`: ns since the epoch."""

    path: str
    kind: Literal["folder", "file", "shared", "link"]
    size: int = 0
    changed: int = 0


def list_entries(
    top: Path, linked: frozenset[str] = frozenset(), excluded: Path | None = None
) -> Iterator[ProjectEntry]:
    """Yield each folder before its contents. `linked`: relative paths to share; `excluded`: a folder to leave out.
    Entries that vanish meanwhile are skipped. Raises OSError where the top cannot be read."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            listed = sorted(os.scandir(top / folder), key=lambda item: item.name)
        except OSError:
            if not folder:
                raise
            continue
        for item in listed:
            path = f"{folder}/{item.name}" if folder else item.name
            entry = None if item.name in SKIPPED_NAMES or Path(item.path) == excluded else _entry(item, path, linked)
            if entry is not None:
                yield entry
                if entry.kind == "folder":
                    waiting.append(path)


def _entry(item: os.DirEntry[str], path: str, linked: frozenset[str]) -> ProjectEntry | None:
    try:
        if item.is_symlink():
            return ProjectEntry(path=path, kind="link")
        status = item.stat(follow_symlinks=False)
    except OSError:
        return None
    if stat.S_ISDIR(status.st_mode):
        is_shared = path in linked or Path(item.path, "pyvenv.cfg").exists()
        return ProjectEntry(path=path, kind="shared" if is_shared else "folder")
    if not stat.S_ISREG(status.st_mode):
        return None
    is_shared = path in linked or (status.st_size >= MIN_LINKED_BYTES and Path(path).suffix.lower() in DATA_SUFFIXES)
    return ProjectEntry(
        path=path, kind="shared" if is_shared else "file", size=status.st_size, changed=status.st_mtime_ns
    )


def file_stamps(top: Path, excluded: Path | None = None) -> dict[str, tuple[int, int]]:
    """Return size and modification time of each file, to notice that somebody wrote into the folder."""
    return {
        entry.path: (entry.size, entry.changed)
        for entry in list_entries(top, excluded=excluded)
        if entry.size or entry.changed
    }
