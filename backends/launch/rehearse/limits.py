"""Time and memory of a rehearsal: the guest is asked to end it well, and is given a while to do so."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from backends.launch.own.limits import resident_bytes
from studio import processes
from studio.events import Note
from studio.faults.held_folder import current_folder
from studio.supervisor import TooMuch
from studio.units import duration, size

if TYPE_CHECKING:
    from backends.launch.rehearse.spec import Rehearsal
    from studio.events import Journal
    from studio.run import Run

END = "rehearsal_end"  # the guest looks for it
GRACE = 30.0
"""Seconds to end in, before all is ended."""
FAR_OVER = 1.25
"""Times the memory limit at which no process is waited for: a host that runs out of memory waits for nobody."""


class Limits:
    def __init__(self, chosen: Rehearsal, run: Run, journal: Journal) -> None:
        self._seconds = None if chosen.minutes is None else chosen.minutes * 60
        self._memory = None if chosen.memory is None else chosen.memory * 10**6
        self._folder = run.folder
        self._journal = journal
        self._begun = time.monotonic()
        self._end_requested_at = 0.0
        self.reached = ""
        """"time" or "memory", once it is."""

    def tick(self) -> None:
        """Raises TooMuch."""
        now = time.monotonic()
        if self.reached:
            if now - self._end_requested_at > GRACE:
                raise TooMuch(self.reached)
            return
        if self._seconds is not None and now - self._begun > self._seconds:
            self._request_end("time", Note(key="launch.rehearse.time_over", args={"limit": duration(self._seconds)}))
        elif self._memory is not None and (used := self._used()) > self._memory:
            args = {"used": size(used), "limit": size(self._memory)}
            self._request_end("memory", Note(key="launch.rehearse.memory_over", args=args))
            if used > FAR_OVER * self._memory:
                raise TooMuch("memory")

    def _request_end(self, reached: str, note: Note) -> None:
        """The guest looks whether the file is there: one that a full disk keeps empty says as much."""
        self.reached, self._end_requested_at = reached, time.monotonic()
        with suppress(OSError):
            (current_folder(self._folder) / END).write_text(reached, encoding="ascii")
        self._journal.write_or_keep(note)

    def _used(self) -> int:
        """Bytes that all its processes hold."""
        marked = [process.pid for process in processes.marked(self._folder)]
        return sum(map(resident_bytes, {*marked, *(process.pid for process in processes.descendants(marked))}))
