"""Where Python's garbage is collected in the window. A process that fails here dies of SIGSEGV."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

from PySide6.QtCore import QThreadPool

from studio.places import ROOT

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

LISTED = """
import gc, random
from PySide6.QtWidgets import QApplication, QFrame, QPlainTextEdit, QVBoxLayout
from ui.garbage import collect_between_events

class Box(QFrame):
    def __init__(self):
        super().__init__()
        self.me = self
        inside = QVBoxLayout(self)
        for _ in range(4):
            inside.addWidget(QPlainTextEdit())

app = QApplication(["x", "-platform", "offscreen"])
collect_between_events(app)
collects = gc.isenabled()
for _ in range(200):
    gc.disable()
    gc.set_threshold(10 ** 8, 1000, 1000)
    for _ in range(6):
        Box()
    gc.set_threshold(gc.get_count()[0] + random.randrange(2, 400), 1000, 1000)
    if collects:
        gc.enable()
    QApplication.allWidgets()
    gc.collect()
print("whole")
"""


def test_that_no_widget_is_freed_while_qt_lists_them() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LISTED], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (0, "whole\n"), done.stderr


class Cycle:
    def __init__(self, told: list[int]) -> None:
        self.me, self._told = self, told

    def __del__(self) -> None:
        self._told.append(threading.get_ident())


def test_that_garbage_of_another_thread_is_collected_in_the_thread_of_qt(qtbot: QtBot) -> None:
    told: list[int] = []
    kept: list[object] = []  # what is freed at once does not count
    done = threading.Event()

    def litter() -> None:
        Cycle(told)
        kept.extend([None] for _ in range(10 * gc.get_threshold()[0]))
        done.set()

    QThreadPool.globalInstance().start(litter)
    assert done.wait(10)
    assert told == []
    qtbot.waitUntil(lambda: told == [threading.get_ident()])
