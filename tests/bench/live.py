"""From a metric record written by a real training to the pixel painted, while the training runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QTimer

from backends.launch.spec import LaunchSpec
from studio import run as runs
from studio import schema, worker
from studio.events import Metric
from tests.bench.figure import Figure, percentile
from tests.bench.stage import wait, window

if TYPE_CHECKING:
    from studio.events import Event
    from ui.services.watcher import RunWatcher
    from ui.widgets.charts import Chart

SECONDS = 12


class _Watch(QObject):
    """Notes, after each paint of a chart, how old the points are that it shows for the first time."""

    def __init__(self, watcher: RunWatcher, chart: Chart) -> None:
        super().__init__(chart)
        self.ages: list[float] = []
        self._times: list[int] = []
        self._drawn = 0
        self._draw = chart.draw
        chart.draw = self._note  # type: ignore[method-assign]
        watcher.events_arrived.connect(self._arrived)
        chart.plot.viewport().installEventFilter(self)

    def _arrived(self, pieces: list[tuple[int, int, list[Event]]]) -> None:
        for _, _, events in pieces:
            self._times += [event.time for event in events if isinstance(event, Metric) and "loss" in event.values]

    def _note(self) -> None:
        self._draw()
        self._drawn = len(self._times)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            QTimer.singleShot(0, self._after)
        return False

    def _after(self) -> None:
        now = time.time_ns()
        self.ages += [(now - written) / 1e6 for written in self._times[: self._drawn]]
        del self._times[: self._drawn]
        self._drawn = 0


def figures() -> list[Figure]:
    shell = window()
    spec = schema.with_value(LaunchSpec(), "recipe", "digits")
    spec = schema.with_value(schema.with_value(spec, "mode", "jit"), "steps", 100_000)
    run = shell.session.start("launch", spec)
    assert run is not None
    page = shell.page_widget("curves")
    wait(lambda: "loss" in page.content.grid.charts and page.content.grid.charts["loss"].isVisible(), 120)
    watch = _Watch(page.watcher, page.content.grid.charts["loss"])
    end = time.monotonic() + SECONDS
    wait(lambda: time.monotonic() > end, SECONDS + 5)
    ages, points = watch.ages, len(watch.ages)
    worker.stop(run)
    worker.stop(run)
    wait(lambda: runs.glance(run).state == "ended", 60)
    shell.close()
    name = f"record written to pixel painted, p95 of {points} points"
    median = percentile(ages, 0.5)
    return [Figure(what=name, value=percentile(ages, 0.95), unit="ms", bar=200, peer=median, peer_name="median")]
