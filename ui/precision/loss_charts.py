"""Two losses over their steps, and below how far apart they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QWidget

from studio.texts import t
from ui.charts import Chart, Line
from ui.curves.view_range import ViewRange
from ui.widgets import GAP

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent, QShowEvent

    from ui.precision.readers import Losses

APART = "relative_difference"
HEIGHT = 230


class LossCharts(QWidget):
    """Both charts share the steps in view."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("precision_loss_charts")
        self.steps = ViewRange(self)
        self.charts = (Chart("loss", self.steps), Chart(APART, self.steps))
        self._found: Losses | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP)
        for chart in self.charts:
            chart.setFixedHeight(HEIGHT)
            row.addWidget(chart, 1)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._draw)
        self.steps.changed.connect(lambda: self._timer.start(0))

    def show_losses(self, found: Losses) -> None:
        self._found = found
        series = [one for one in (found.target, found.golden) if len(one)]
        if series:
            self.steps.set_whole(
                min(float(one.steps[0]) for one in series), max(float(one.steps[-1]) for one in series)
            )
        self._timer.start(0)

    def _draw(self) -> None:
        found = self._found
        if found is None or not self.isVisible():
            return
        both = (("precision.start.target", found.target), ("precision.start.golden", found.golden))
        losses = [Line(name=t(key), index=number, series=series) for number, (key, series) in enumerate(both)]
        apart = [Line(name="", index=2, series=found.relative)]
        for chart, lines in zip(self.charts, (losses, apart), strict=True):
            chart.show_lines(lines)
            chart.draw()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start(0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._timer.start(0)

    def retranslate(self) -> None:
        self._timer.start(0)
