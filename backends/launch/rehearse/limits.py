"""Time and memory of a rehearsal: the guest is asked to end it well, and is given a while to do so."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from backends.launch.own.limits import held
from studio import processes
from studio.events import Note
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
"""Of the memory limit: a host that runs out of memory waits for nobody."""


class Limits:
    def __init__(self, asked: Rehearsal, run: Run, journal: Journal) -> None:
        self._seconds = None if asked.minutes is None else asked.minutes * 60
        self._memory = None if asked.memory is None else asked.memory * 10**6
        self._folder = run.folder
        self._journal = journal
        self._begun = time.monotonic()
        self._asked = 0.0
        self.reached = ""
        """"time" or "memory", once it is."""

    def tick(self) -> None:
        """Raises TooMuch."""
        now = time.monotonic()
        if self.reached:
            if now - self._asked > GRACE:
                raise TooMuch(self.reached)
            return
        if self._seconds is not None and now - self._begun > self._seconds:
            self._ask("time", Note(key="launch.rehearse.time_over", args={"limit": duration(self._seconds)}))
        elif self._memory is not None and (used := self._used()) > self._memory:
            args = {"used": size(used), "limit": size(self._memory)}
            self._ask("memory", Note(key="launch.rehearse.memory_over", args=args))
            if used > FAR_OVER * self._memory:
                raise TooMuch("memory")

    def _ask(self, reached: str, note: Note) -> None:
        """The guest looks whether the file is there: one that a full disk keeps empty says as much."""
        self.reached, self._asked = reached, time.monotonic()
        (self._folder / END).write_text(reached, encoding="ascii")
        self._journal.write(note)

    def _used(self) -> int:
        """Octets that all its processes hold."""
        marked = [one.pid for one in processes.marked(self._folder)]
        return sum(map(held, {*marked, *(one.pid for one in processes.descendants(marked))}))
