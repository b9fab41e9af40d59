"""What happens to a run's folder while a program runs, told in the run: a full disk, a move."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from studio import files
from studio.events import Finding, Journal
from studio.faults.held_folder import current_folder

if TYPE_CHECKING:
    from pathlib import Path


class FolderWatch:
    """`look` is to be called about twice a second, `finish` when the program has ended. Never raises."""

    def __init__(self, folder: Path, attempt: int) -> None:
        self._folder = folder
        self._path = folder
        self._journal = Journal(folder, attempt)
        self._full_since = 0.0

    def look(self) -> None:
        self._look_for_move()
        is_full = files.is_disk_full(self._path)
        if is_full and not self._full_since:
            self._full_since = time.time()
        elif not is_full:
            self._tell_of_full_disk()

    def finish(self) -> None:
        self.look()
        self._tell_of_full_disk(rule="run.log_lines_lost_to_end")

    def _tell_of_full_disk(self, rule: str = "run.log_lines_lost") -> None:
        """The program writes its log itself: what it could not write there nobody has counted."""
        if self._full_since:
            args = {"since": _clock(self._full_since), "until": _clock(time.time())}
            self._full_since = 0.0
            self._journal.write_or_keep(Finding(rule=rule, severity="warning", args=args))

    def _look_for_move(self) -> None:
        path = current_folder(self._folder)
        if path != self._path:
            self._path = path
            if path != self._folder:
                self._journal.write_or_keep(Finding(rule="run.moved", severity="warning", args={"to": str(path)}))


def _clock(seconds: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(seconds))
