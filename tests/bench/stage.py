"""A window for benchmarks, and a heart whose beats tell how long the UI thread was busy."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QEventLoop, QObject, QTimer
from PySide6.QtWidgets import QApplication

from ui.services.session import Session
from ui.services.settings import Settings
from ui.shell.garbage import collect_between_events
from ui.shell.window import Shell
from ui.widgets import theme

if TYPE_CHECKING:
    from collections.abc import Callable


def window() -> Shell:
    """A shown window on its first page, in the homes that the benchmark has."""
    app = QApplication.instance() or QApplication([])
    collect_between_events(app)
    theme.apply(app, "light")
    shell = Shell(Session(app), Settings(language="en", theme="light"))
    shell.resize(1280, 800)
    shell.show_first()
    wait(lambda: bool(shell.page), 30)
    return shell


def wait(condition: Callable[[], bool], seconds: float) -> None:
    """Lets the window live until something is so. Raises TimeoutError."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        loop = QEventLoop()
        QTimer.singleShot(20, loop.quit)
        loop.exec()


class Heart(QObject):
    """Beats every 5 ms. `late`: ms that a beat came after its time; `busy`: ms of CPU of this thread between two."""

    INTERVAL = 5

    def __init__(self) -> None:
        super().__init__()
        self.late: list[float] = []
        self.busy: list[float] = []
        self._last = time.monotonic()
        self._cpu = time.thread_time()
        self._timer = QTimer(self)
        self._timer.setTimerType(self._timer.timerType().PreciseTimer)
        self._timer.timeout.connect(self._beat)
        self._timer.start(self.INTERVAL)

    def _beat(self) -> None:
        now, cpu = time.monotonic(), time.thread_time()
        self.late.append(max(0.0, (now - self._last) * 1e3 - self.INTERVAL))
        self.busy.append((cpu - self._cpu) * 1e3)
        self._last, self._cpu = now, cpu

    def stop(self) -> None:
        self._timer.stop()
