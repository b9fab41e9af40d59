"""The losses of two runs over their steps, and their relative difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QWidget

from studio.texts import t
from ui.widgets.basic import GAP
from ui.widgets.chart_lines import Line, run_style
from ui.widgets.charts import Chart
from ui.widgets.step_range import ViewRange

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent, QShowEvent

    from ui.precision.losses_weights.losses_result import LossesResult

DIFFERENCE = "relative_difference"
HEIGHT = 230


class LossCharts(QWidget):
    """Both charts share the range of steps in view."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("precision_loss_charts")
        self.steps = ViewRange(self)
        self.charts = (Chart("loss", self.steps), Chart(DIFFERENCE, self.steps))
        self._losses: LossesResult | None = None
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

    def show_losses(self, losses: LossesResult) -> None:
        self._losses = losses
        series = [curve for curve in (losses.target, losses.golden) if len(curve)]
        if series:
            self.steps.set_whole(
                min(float(curve.steps[0]) for curve in series), max(float(curve.steps[-1]) for curve in series)
            )
        self._timer.start(0)

    def _draw(self) -> None:
        losses = self._losses
        if losses is None or not self.isVisible():
            return
        sides = (("precision.start.target", losses.target), ("precision.start.golden", losses.golden))
        both_lines = [
            Line(name=t(key), style=run_style(number), series=series) for number, (key, series) in enumerate(sides)
        ]
        difference = [Line(name="", style=run_style(2), series=losses.relative)]
        for chart, lines in zip(self.charts, (both_lines, difference), strict=True):
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
