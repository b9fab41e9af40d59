"""Opening a gigabyte in the window: how late the window is meanwhile, when the first lanes are there, and how soon it
is there again."""

from __future__ import annotations

import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.bench.figure import Figure, percentile
from tests.timeline.large_profiles import big_text

if TYPE_CHECKING:
    from ui.shell.window import Shell

SIZE = 1_000_000_000
AGAIN = 5
SECONDS = 60


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        path = big_text(Path(name) / "trace_view.json", SIZE)
        return [*_first(path), *_again(path)]


def _first(path: Path) -> list[Figure]:
    from tests.bench.stage import Heart, wait, window

    shell = window()
    page: Any = shell.page_widget("timeline")
    _rest(2)
    heart = Heart()
    begun = time.monotonic()
    page.open(path)
    wait(lambda: _is_visible(shell, all_of_it=False), SECONDS)
    first = time.monotonic() - begun
    wait(lambda: _is_visible(shell), SECONDS)
    whole = time.monotonic() - begun
    heart.stop()
    shell.close()
    return [
        Figure(what="UI lateness while a gigabyte loads, p99", value=percentile(heart.late, 0.99), unit="ms", bar=33),
        Figure(what="  CPU of the UI thread between two beats, p99", value=percentile(heart.busy, 0.99), unit="ms"),
        Figure(what="  the longest stretch of CPU of the UI thread", value=max(heart.busy), unit="ms"),
        Figure(what="  the first lanes are painted", value=first, unit="s", bar=1.0),
        Figure(what="  all lanes are painted", value=whole, unit="s"),
    ]


def _again(path: Path) -> list[Figure]:
    """CPU of all threads of the window's process, from the wish to open until the lanes are painted."""
    from tests.bench.stage import wait, window

    spent = []
    for _ in range(AGAIN):
        shell = window()
        page: Any = shell.page_widget("timeline")
        _rest(0.5)
        begun = time.process_time()
        page.open(path)
        wait(partial(_is_visible, shell), SECONDS)
        spent.append(time.process_time() - begun)
        shell.close()
    return [Figure(what="open a gigabyte again, to the first frame", value=statistics.median(spent), unit="s CPU",
                   bar=0.2)]  # fmt: skip


def _rest(seconds: float) -> None:
    from PySide6.QtCore import QEventLoop, QTimer

    loop = QEventLoop()
    QTimer.singleShot(round(seconds * 1000), loop.quit)
    loop.exec()


def _is_visible(shell: Shell, all_of_it: bool = True) -> bool:
    """Whether lanes are painted, if need be now; otherwise those of a trace of which more is being read will do."""
    from ui.timeline.view.lanes_canvas import LanesCanvas

    canvas = shell.findChild(LanesCanvas)
    if canvas is None or canvas.painting is None or not canvas.isVisible():
        return False
    if all_of_it and canvas.painting.trace.meta.partial is not None:
        return False
    canvas.repaint()
    return True
