"""A run's folder that somebody may move or delete while it is worked on or watched.

A path says where a folder was. An open descriptor stays with the folder itself: by it a moved one is found again, and a
deleted one is known within one look instead of after minutes of failed writes.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path


class HeldFolder:
    """A folder held open. Raises OSError where it cannot be opened."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._status = os.fstat(self._descriptor)

    def is_in_place(self) -> bool:
        """Return whether the path still leads to this very folder."""
        return self.is_at(self.folder)

    def is_deleted(self) -> bool:
        """Return whether the folder has no run.json any more. A folder that cannot be read just now still has one."""
        try:
            os.stat("run.json", dir_fd=self._descriptor)
        except OSError as error:
            return error.errno in (errno.ENOENT, errno.ESTALE)
        return False

    def path(self) -> Path:
        """Return a path that leads to the folder now: the one it had, the one it was moved to, or, where nothing tells
        that, its descriptor's.
        """
        if self.is_in_place():
            return self.folder
        by_descriptor = Path(f"/proc/self/fd/{self._descriptor}")
        try:
            moved = by_descriptor.readlink()
        except OSError:
            return by_descriptor
        return moved if self.is_at(moved) else by_descriptor

    def is_at(self, path: Path) -> bool:
        """Return whether a path leads to this very folder."""
        try:
            return os.path.samestat(path.stat(), self._status)
        except OSError:
            return False

    def close(self) -> None:
        os.close(self._descriptor)


_held: HeldFolder | None = None


def hold(folder: Path) -> None:
    """Hold the folder of the run that this process works on, for good. Raises OSError."""
    global _held
    _held = HeldFolder(folder)


def current_folder(folder: Path) -> Path:
    """Return where a run's folder is now, if this process holds it; else the path as it is."""
    return _held.path() if _held is not None and _held.folder == folder else folder


def held_path(folder: Path) -> Path:
    """Return the path by which this process knows a folder, also where it is given the one that leads there now."""
    return _held.folder if _held is not None and _held.is_at(folder) else folder


def is_deleted(folder: Path) -> bool:
    """Return whether this process holds the folder and somebody has deleted it."""
    return _held is not None and _held.folder == folder and _held.is_deleted()
