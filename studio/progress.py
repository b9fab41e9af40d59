"""Progress events that are frequent enough to watch and rare enough to cost nothing."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from studio.events import Progress

if TYPE_CHECKING:
    from studio.events import Journal

INTERVAL = 0.2
"""Seconds between two events."""


class ThrottledProgress:
    """Writes the first and the last report of a piece of work to its run, and those between at most five times a
    second. A full disk costs the event, not the work."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._last_write = -INTERVAL

    def report(self, done: int, total: int, phase: str) -> None:
        if done == total or time.monotonic() - self._last_write > INTERVAL:
            self._last_write = time.monotonic()
            with suppress(OSError):
                self._journal.write(Progress(done=done, total=total, phase=phase))
