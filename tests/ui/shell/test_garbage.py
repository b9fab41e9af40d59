"""Where Python's garbage is collected in the window. A process that fails here dies of SIGSEGV."""

from __future__ import annotations

import subprocess
import sys

from studio.paths import ROOT

LISTED = """
import gc, random
from PySide6.QtWidgets import QApplication, QFrame, QPlainTextEdit, QVBoxLayout
from ui.shell.garbage import collect_between_events

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


LITTERED = """
import gc, threading
from PySide6.QtCore import QCoreApplication, QThreadPool, QTimer
from ui.shell.garbage import collect_between_events

told = []

class Cycle:
    def __init__(self):
        self.me = self
    def __del__(self):
        told.append(threading.get_ident())

kept, done = [], threading.Event()  # what is freed at once does not count

def litter():
    Cycle()
    kept.extend([None] for _ in range(10 * gc.get_threshold()[0]))
    done.set()

app = QCoreApplication([])
collect_between_events(app)
QThreadPool.globalInstance().start(litter)
assert done.wait(10) and not told
timer = QTimer(interval=20)
timer.timeout.connect(lambda: app.quit() if told else None)
timer.start()
QTimer.singleShot(30000, app.quit)
app.exec()
print(told == [threading.get_ident()])
"""


def printed_by(script: str) -> str:
    line = [sys.executable, "-c", script]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_that_no_widget_is_freed_while_qt_lists_them() -> None:
    assert printed_by(LISTED) == "whole\n"


def test_that_garbage_of_another_thread_is_collected_in_the_thread_of_qt() -> None:
    assert printed_by(LITTERED) == "True\n"


STEADY = """
import gc
from PySide6.QtCore import QCoreApplication, QTimer
from ui.shell import garbage

garbage.EVERY = 1
gc.set_threshold(700, 3, 3)
app = QCoreApplication([])
garbage.collect_between_events(app)
kept, looks, whole = [[i] for i in range(100_000)], [0], []

def litter():
    looks[0] += 1
    for _ in range(1000):
        ring = []
        ring.append(ring)
    if looks[0] > 400:
        app.quit()

def seen(phase, told):
    if phase == "start" and told["generation"] == 2:
        whole.append(looks[0])

gc.callbacks.append(seen)
timer = QTimer(interval=2)
timer.timeout.connect(litter)
timer.start()
app.exec()
print(len(whole))
"""


def test_that_what_has_been_there_for_long_is_not_looked_through_again_and_again() -> None:
    assert int(printed_by(STEADY)) in (1, 2)
