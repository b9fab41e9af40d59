"""How soon the window is there: CPU until its shell is painted, beside a bare QWidget."""

from __future__ import annotations

import statistics
import subprocess
import sys

from tests.bench.figure import Figure

PAINTED = """
import sys, time
from PySide6.QtCore import QEvent, QObject, QTimer
class Watch(QObject):
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self.tell)
        return False
    def tell(self):
        print(time.process_time(), flush=True)
        app.quit()
"""
OURS = """
from ui.app import open_window
app, window = open_window()
"""
BARE = """
from PySide6.QtWidgets import QApplication, QWidget
app = QApplication([])
window = QWidget()
window.resize(1280, 800)
window.show()
"""


def _seconds(opening: str) -> float:
    code = f"{opening}{PAINTED}watch = Watch()\nwindow.installEventFilter(watch)\napp.exec()\n"
    runs = [
        subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True) for _ in range(8)
    ]
    return statistics.median(float(run.stdout.split()[-1]) for run in runs[1:])


def figures() -> list[Figure]:
    return [
        Figure(
            what="shell window painted",
            value=_seconds(OURS),
            unit="s CPU",
            bar=0.4,
            peer=_seconds(BARE),
            peer_name="bare QWidget",
        )
    ]
