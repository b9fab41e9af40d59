"""Notices that files were saved: their times are looked at off the UI thread, as a network drive may be slow."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from ui.asking import ask

if TYPE_CHECKING:
    from pathlib import Path

    Stamps = dict[str, tuple[int, int]]

INTERVAL = 1000
MOST = 2000


class FileWatch(QObject):
    """`saved`: some of the watched files are not as they were. One look at a time."""

    saved = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._folder: Path | None = None
        self._paths: tuple[str, ...] = ()
        self._stamps: Stamps | None = None
        self._looks = False
        self._timer = QTimer(self, interval=INTERVAL)
        self._timer.timeout.connect(self.look)

    def watch(self, folder: Path | None, paths: tuple[str, ...]) -> None:
        """From now on these, relative to a folder, as they are at the next look."""
        self._folder, self._paths, self._stamps = folder, paths[:MOST], None

    def run(self, on: bool) -> None:
        """Only while the page is shown."""
        self._timer.start() if on else self._timer.stop()

    def look(self) -> None:
        if self._folder is not None and not self._looks:
            self._looks = True
            ask(self, partial(_stamps, self._folder, self._paths), partial(self._looked, self._folder, self._paths))

    def _looked(self, folder: Path, paths: tuple[str, ...], stamps: Stamps) -> None:
        self._looks = False
        if folder != self._folder or paths is not self._paths:
            return
        before, self._stamps = self._stamps, stamps
        if before is not None and before != stamps:
            self.saved.emit()


def _stamps(folder: Path, paths: tuple[str, ...]) -> Stamps:
    """Time and size of each; a file that is gone has none."""
    found: Stamps = {}
    for path in paths:
        try:
            seen = os.stat(folder / path)  # noqa: PTH116 - thousands of files, once a second
        except OSError:
            continue
        found[path] = (seen.st_mtime_ns, seen.st_size)
    return found
