"""Notices saved files by their stamps, read off the UI thread as a network drive may be slow."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from ui.services.background import run_in_background

if TYPE_CHECKING:
    from pathlib import Path

    Stamps = dict[str, tuple[int, int]]

INTERVAL_MS = 1000
MAX_FILES = 2000


class FileWatch(QObject):
    """`saved`: some of the watched files changed. One check runs at a time."""

    saved = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._folder: Path | None = None
        self._paths: tuple[str, ...] = ()
        self._stamps: Stamps | None = None
        self._is_checking = False
        self._timer = QTimer(self, interval=INTERVAL_MS)
        self._timer.timeout.connect(self.check)

    def watch(self, folder: Path | None, paths: tuple[str, ...]) -> None:
        """Watch these files, relative to a folder; the next check records their state."""
        self._folder, self._paths, self._stamps = folder, paths[:MAX_FILES], None

    def run(self, on: bool) -> None:
        """Start or stop checking; the page checks only while it is visible."""
        self._timer.start() if on else self._timer.stop()

    def check(self) -> None:
        if self._folder is not None and not self._is_checking:
            self._is_checking = True
            run_in_background(
                self,
                partial(_read_stamps, self._folder, self._paths),
                partial(self._compare, self._folder, self._paths),
            )

    def _compare(self, folder: Path, paths: tuple[str, ...], stamps: Stamps) -> None:
        self._is_checking = False
        if folder != self._folder or paths is not self._paths:
            return
        before, self._stamps = self._stamps, stamps
        if before is not None and before != stamps:
            self.saved.emit()


def _read_stamps(folder: Path, paths: tuple[str, ...]) -> Stamps:
    """Return modification time and size of each file that exists."""
    stamps: Stamps = {}
    for path in paths:
        try:
            status = os.stat(folder / path)  # noqa: PTH116 - thousands of files, once a second
        except OSError:
            continue
        stamps[path] = (status.st_mtime_ns, status.st_size)
    return stamps
