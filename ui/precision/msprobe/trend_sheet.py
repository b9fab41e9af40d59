"""The statistics over steps that msprobe's data2db wrote: a chart of each for one tensor."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QGridLayout, QHBoxLayout

from backends.precision.msprobe import trend
from studio.errors import StudioError
from studio.series import Series
from ui.precision.elided_combo import ElidedComboBox
from ui.services.background import run_in_background
from ui.widgets.basic import (
    GAP,
    Elided,
    Sentence,
    label,
)
from ui.widgets.chart_lines import Line, run_style
from ui.widgets.charts import Chart
from ui.widgets.popover import Popover
from ui.widgets.step_range import ViewRange

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtWidgets import QWidget

    from ui.precision.msprobe.results import TrendFile

WIDTH, HEIGHT = 860, 190

Curves = dict[str, Series]


class TrendSheet(Popover):
    def __init__(self, owner: QWidget, trend: TrendFile) -> None:
        super().__init__(owner, "precision_msprobe_trends", WIDTH)
        self._trend = trend
        self._selected: tuple[Any, ...] = ()
        self._recorded: dict[int, tuple[int, ...]] = {}
        self.curves: Curves = {}
        self.steps = ViewRange(self)
        self.charts = tuple(Chart(name, self.steps) for name in trend.contents.statistics)
        self.ranks = ElidedComboBox("precision_trend_rank", "precision.beside.rank")
        self.phases = ElidedComboBox("precision_trend_phase", "precision.beside.phase")
        self.targets = ElidedComboBox("precision_trend_target", "precision.beside.tensor")
        self.message = Sentence("precision.beside.reading")
        self._make()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._draw)
        self.steps.changed.connect(lambda: self._timer.start(0))
        self.ranks.currentIndexChanged.connect(self._request_recorded)
        self.phases.currentIndexChanged.connect(self._show_targets)
        self.targets.currentIndexChanged.connect(self._request_curves)
        self._request_recorded()

    def _make(self) -> None:
        ranks = self._trend.contents.ranks
        self.ranks.show_entries([(f"rank {rank}", rank) for rank in ranks], 0)
        self.ranks.setVisible(len(ranks) > 1)
        file = Elided(Qt.TextElideMode.ElideMiddle, "hint")
        file.setText(str(self._trend.path))
        head = QHBoxLayout()
        head.addWidget(label("precision.beside.trend", "title"))
        for box, width in ((self.ranks, 90), (self.phases, 150)):
            box.setFixedWidth(width)
            head.addWidget(box)
        head.addWidget(self.targets, 1)
        grid = QGridLayout()
        grid.setSpacing(GAP)
        for number, chart in enumerate(self.charts):
            chart.setFixedHeight(HEIGHT)
            grid.addWidget(chart, number // 2, number % 2)
        self.column.addLayout(head)
        self.column.addWidget(file)
        self.column.addWidget(self.message)
        self.column.addLayout(grid)

    def _request_recorded(self) -> None:
        rank = self.ranks.currentData()
        if rank is not None:
            run_in_background(self, partial(_recorded, self._trend.path, rank), partial(self._show_recorded, rank))

    def _show_recorded(self, rank: int, recorded: dict[int, tuple[int, ...]] | StudioError) -> None:
        if rank != self.ranks.currentData():
            return
        if isinstance(recorded, StudioError):
            self._show_message(str(recorded))
            return
        self._recorded = recorded
        names = self._trend.contents.metrics
        self.phases.show_entries([(names.get(metric, str(metric)), metric) for metric in recorded], 0)
        self._show_targets()

    def _show_targets(self) -> None:
        names = self._trend.contents.targets
        targets = self._recorded.get(self.phases.currentData(), ())
        before = self.targets.currentData()
        self.targets.blockSignals(True)
        at = targets.index(before) if before in targets else 0
        self.targets.show_entries([(names.get(target, str(target)), target) for target in targets], at)
        self.targets.blockSignals(False)
        self._request_curves()

    def _request_curves(self) -> None:
        target, metric, rank = (box.currentData() for box in (self.targets, self.phases, self.ranks))
        self._selected = (target, metric, rank)
        if None not in self._selected:
            question = partial(_curves, self._trend.path, target, metric, rank, self._trend.contents.statistics)
            run_in_background(self, question, partial(self._show_curves, self._selected))

    def _show_curves(self, selected: tuple[Any, ...], curves: Curves | StudioError) -> None:
        if selected != self._selected:
            return
        if isinstance(curves, StudioError):
            self._show_message(str(curves))
            return
        self.curves = curves
        self.message.hide()
        non_empty = [series for series in curves.values() if len(series)]
        if non_empty:
            self.steps.set_whole(float(non_empty[0].steps[0]), float(non_empty[0].steps[-1]))
        self._timer.start(0)

    def _show_message(self, text: str) -> None:
        self.message.setText(text)
        self.message.show()

    def _draw(self) -> None:
        for number, chart in enumerate(self.charts):
            series = self.curves.get(chart.metric_name)
            if series is not None:
                chart.show_lines([Line(name="", style=run_style(number), series=series)])
                chart.draw()


def _recorded(path: Path, rank: int) -> dict[int, tuple[int, ...]] | StudioError:
    try:
        return trend.recorded(path, rank)
    except StudioError as error:
        return error


def _curves(path: Path, target: int, metric: int, rank: int, names: tuple[str, ...]) -> Curves | StudioError:
    curves: Curves = {}
    for name in names:
        try:
            steps, values = trend.series(path, target, metric, rank, name)
        except StudioError as error:
            return error
        curves[name] = Series()
        curves[name].extend(steps, values)
    return curves
