"""Garbage is collected in the thread of Qt and between its events, nowhere else.

Python collects wherever an object happens to be made. In another thread, or inside a call of Qt that is just handing
out what it has (`QApplication.allWidgets()`), that deletes widgets under Qt's hands: the process is gone.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QCoreApplication, QObject, QTimer

EVERY = 250
"""ms between two looks."""
NAME = "garbage"
OLDEST = 2
"""The generation of what has been there for long. Looking through it takes tens of milliseconds."""
GROWN = 1.25
"""Python's own rule: it is collected once it has grown by a quarter since the last full collection."""


class Garbage(QObject):
    """Takes over from Python's collector for as long as the application lives, at the pace that it would have."""

    def __init__(self, app: QCoreApplication) -> None:
        super().__init__(app)
        self.setObjectName(NAME)
        gc.disable()
        self._old_count = 0
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._collect)
        self._timer.start(EVERY)

    def _collect(self) -> None:
        counted, allowed = gc.get_count(), gc.get_threshold()
        if counted[0] <= allowed[0]:
            return
        oldest = max(generation for generation in range(OLDEST + 1) if counted[generation] > allowed[generation])
        if oldest == OLDEST and _old() <= GROWN * self._old_count:
            oldest -= 1
        gc.collect(oldest)
        if oldest == OLDEST:
            self._old_count = _old()


def _old() -> int:
    return len(gc.get_objects(OLDEST))


def collect_between_events(app: QCoreApplication) -> None:
    """Begin now. A second call changes nothing."""
    if app.findChild(QObject, NAME) is None:
        Garbage(app)
