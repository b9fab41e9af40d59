"""Reads a run while it is watched, a slice at a time, so that the window never waits."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from backends.common.run_status import RunStatus
from studio import run as runs
from studio.series import Curves
from studio.tail import RunTail

if TYPE_CHECKING:
    from collections.abc import Iterator

    from studio.events import Event
    from studio.run import Glance, Run

LIVE, FLOOD, ENDED = 50, 100, 2000
"""ms between two looks at a run: one that writes, one that writes more than MANY events between two looks, and one that
is over."""
MANY = 8
GLANCE_NS = 400_000_000
BUDGET_NS = 12_000_000
PIECE = 1 << 18


class RunWatcher(QObject):
    """Keeps the curves and the story of one run up to date. On the UI thread; a slice is about 12 ms at most."""

    events_arrived = Signal(list)
    """What one slice read: tuples of attempt, rank and events."""
    loading = Signal(object, object)
    """Bytes read and bytes there are, while it catches up; equal when it has."""
    state_changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._read_slice)
        self.watch(None)

    def watch(self, run: Run | None) -> None:
        """From now on this run, from its first event."""
        self.run = run
        self.curves = Curves()
        self.status = RunStatus()
        self.glance: Glance | None = None
        self.is_loaded = False
        self._tail = RunTail(run.folder) if run else None
        self._reading: Iterator[tuple[tuple[int, int, int], list[Event]]] | None = None
        self._total = 0
        self._glanced = 0
        self._timer.stop()
        if run:
            self._timer.start(0)

    @property
    def damaged(self) -> int:
        """Lines that could not be read."""
        return self._tail.damaged if self._tail else 0

    def close(self) -> None:
        self.watch(None)

    def _read_slice(self) -> None:
        begin = time.monotonic_ns()
        self._see_state(begin)
        pieces, pending = self._read_until(begin + BUDGET_NS)
        catching_up = self._reading is not None or pending > PIECE
        if pieces:
            self.events_arrived.emit(pieces)
        if not self.is_loaded:
            self._total = max(self._total, pending + self._read_so_far())
            self.is_loaded = not catching_up
            done = self._total if self.is_loaded else max(0, self._total - pending)
            self.loading.emit(done, self._total)
        self._timer.setInterval(1 if catching_up else self._pace(sum(len(events) for _, _, events in pieces)))

    def _read_so_far(self) -> int:
        return self._tail.offset() if self._tail else 0

    def _pace(self, count: int) -> int:
        """Return the ms until the next look; `count`: of the events that this one saw."""
        if self.glance and self.glance.state in runs.OVER:
            return ENDED
        return FLOOD if count > MANY else LIVE

    def _read_until(self, end: int) -> tuple[list[tuple[int, int, list[Event]]], int]:
        """Reads until the time is over or there is nothing more, at least one piece. Returns what it read, and how many
        bytes are left to read."""
        pieces: list[tuple[int, int, list[Event]]] = []
        while self._tail:
            if self._reading is None:
                self._reading = self._tail.read_processes(PIECE)
            piece = next(self._reading, None)
            if piece is None:
                self._reading = None
                if not (pending := self._tail.pending()) or time.monotonic_ns() >= end:
                    return pieces, pending
            else:
                (attempt, rank, pid), events = piece
                self.curves.extend(attempt, rank, events, pid)
                self.status.extend(attempt, rank, events)
                pieces.append((attempt, rank, events))
                if time.monotonic_ns() >= end:
                    break
        return pieces, self._tail.pending() if self._tail else 0

    def _see_state(self, now: int) -> None:
        """An end is reported at once; other states are read now and then."""
        ended = self.status.ended is not None
        if self.run is None or (self.glance and self.glance.state == "ended"):
            return
        if self.glance is None or ended or now - self._glanced > GLANCE_NS:
            self._glanced = now
            glance = runs.glance(self.run)
            is_new = self.glance is None or (glance.state, glance.code) != (self.glance.state, self.glance.code)
            self.glance = glance
            if is_new:
                self.state_changed.emit(glance)
