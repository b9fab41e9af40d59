"""What lies in a project's folder, as far as a rehearsal needs it."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

SKIPPED = frozenset((
    ".git", ".hg", ".svn", ".ascend-studio", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache",
    "node_modules",
))  # fmt: skip
LARGE = 64 << 20
"""Bytes from which on a file of data is linked and not copied."""
# Data that no training opens to write: a checkpoint or a log behind a link would be overwritten.
DATA = frozenset((
    ".7z", ".arrow", ".avi", ".bz2", ".gz", ".h5", ".hdf5", ".lmdb", ".mat", ".mkv", ".mp4", ".npy", ".parquet",
    ".rar", ".tar", ".tfrecord", ".tgz", ".wav", ".xz", ".zip", ".zst",
))  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Entry:
    """`path`: relative, with "/". `kind`: shared is what the copy is to link to, link is a link of the project's
    own. `changed`: ns since the epoch."""

    path: str
    kind: Literal["folder", "file", "shared", "link"]
    size: int = 0
    changed: int = 0


def entries(top: Path, linked: frozenset[str] = frozenset(), without: Path | None = None) -> Iterator[Entry]:
    """Folders before what is in them. `linked`: relative paths that are shared; `without`: a folder below that is left
    out. What vanishes meanwhile is not there. Raises OSError where the top cannot be read."""
    waiting = [""]
    while waiting:
        here = waiting.pop()
        try:
            found = sorted(os.scandir(top / here), key=lambda one: one.name)
        except OSError:
            if not here:
                raise
            continue
        for one in found:
            path = f"{here}/{one.name}" if here else one.name
            entry = None if one.name in SKIPPED or Path(one.path) == without else _entry(one, path, linked)
            if entry is not None:
                yield entry
                if entry.kind == "folder":
                    waiting.append(path)


def _entry(one: os.DirEntry[str], path: str, linked: frozenset[str]) -> Entry | None:
    try:
        if one.is_symlink():
            return Entry(path=path, kind="link")
        found = one.stat(follow_symlinks=False)
    except OSError:
        return None
    if stat.S_ISDIR(found.st_mode):
        is_shared = path in linked or Path(one.path, "pyvenv.cfg").exists()
        return Entry(path=path, kind="shared" if is_shared else "folder")
    if not stat.S_ISREG(found.st_mode):
        return None
    is_shared = path in linked or (found.st_size >= LARGE and Path(path).suffix.lower() in DATA)
    return Entry(path=path, kind="shared" if is_shared else "file", size=found.st_size, changed=found.st_mtime_ns)


def stamps(top: Path, without: Path | None = None) -> dict[str, tuple[int, int]]:
    """Size and time of each file: what tells that somebody wrote into a folder."""
    return {one.path: (one.size, one.changed) for one in entries(top, without=without) if one.size or one.changed}
