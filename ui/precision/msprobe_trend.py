"""The statistics over steps that msprobe's data2db wrote: four charts of one tensor."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QGridLayout, QHBoxLayout

from backends.precision.msprobe import trend
from studio.errors import StudioError
from studio.series import Series
from ui.asking import ask
from ui.charts import Chart, Line
from ui.curves.view_range import ViewRange
from ui.popover import Popover
from ui.precision.place_box import PlaceBox
from ui.widgets import GAP, Elided, Sentence, label

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtWidgets import QWidget

    from ui.precision.msprobe_read import Trend

WIDTH, HEIGHT = 860, 190

Curves = dict[str, Series]


class TrendSheet(Popover):
    def __init__(self, owner: QWidget, found: Trend) -> None:
        super().__init__(owner, "precision_msprobe_trends", WIDTH)
        self._found = found
        self._wanted: tuple[Any, ...] = ()
        self._recorded: dict[int, tuple[int, ...]] = {}
        self.curves: Curves = {}
        self.steps = ViewRange(self)
        self.charts = tuple(Chart(name, self.steps) for name in found.held.statistics)
        self.ranks = PlaceBox("precision_trend_rank", "precision.beside.rank")
        self.phases = PlaceBox("precision_trend_phase", "precision.beside.phase")
        self.targets = PlaceBox("precision_trend_target", "precision.beside.tensor")
        self.said = Sentence("precision.beside.reading")
        self._make()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._draw)
        self.steps.changed.connect(lambda: self._timer.start(0))
        self.ranks.currentIndexChanged.connect(self._ask_recorded)
        self.phases.currentIndexChanged.connect(self._show_targets)
        self.targets.currentIndexChanged.connect(self._ask_curves)
        self._ask_recorded()

    def _make(self) -> None:
        ranks = self._found.held.ranks
        self.ranks.show_entries([(f"rank {rank}", rank) for rank in ranks], 0)
        self.ranks.setVisible(len(ranks) > 1)
        file = Elided(Qt.TextElideMode.ElideMiddle, "hint")
        file.setText(str(self._found.path))
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
        self.column.addWidget(self.said)
        self.column.addLayout(grid)

    # What is chosen

    def _ask_recorded(self) -> None:
        rank = self.ranks.currentData()
        if rank is not None:
            ask(self, partial(_recorded, self._found.path, rank), partial(self._show_recorded, rank))

    def _show_recorded(self, rank: int, found: dict[int, tuple[int, ...]] | StudioError) -> None:
        if rank != self.ranks.currentData():
            return
        if isinstance(found, StudioError):
            self._tell(str(found))
            return
        self._recorded = found
        names = self._found.held.metrics
        self.phases.show_entries([(names.get(metric, str(metric)), metric) for metric in found], 0)
        self._show_targets()

    def _show_targets(self) -> None:
        names = self._found.held.targets
        targets = self._recorded.get(self.phases.currentData(), ())
        before = self.targets.currentData()
        self.targets.blockSignals(True)
        at = targets.index(before) if before in targets else 0
        self.targets.show_entries([(names.get(target, str(target)), target) for target in targets], at)
        self.targets.blockSignals(False)
        self._ask_curves()

    def _ask_curves(self) -> None:
        target, metric, rank = (box.currentData() for box in (self.targets, self.phases, self.ranks))
        self._wanted = (target, metric, rank)
        if None not in self._wanted:
            question = partial(_curves, self._found.path, target, metric, rank, self._found.held.statistics)
            ask(self, question, partial(self._show_curves, self._wanted))

    def _show_curves(self, wanted: tuple[Any, ...], found: Curves | StudioError) -> None:
        if wanted != self._wanted:
            return
        if isinstance(found, StudioError):
            self._tell(str(found))
            return
        self.curves = found
        self.said.hide()
        known = [one for one in found.values() if len(one)]
        if known:
            self.steps.set_whole(float(known[0].steps[0]), float(known[0].steps[-1]))
        self._timer.start(0)

    def _tell(self, text: str) -> None:
        self.said.setText(text)
        self.said.show()

    def _draw(self) -> None:
        for number, chart in enumerate(self.charts):
            series = self.curves.get(chart.metric_name)
            if series is not None:
                chart.show_lines([Line(name="", index=number, series=series)])
                chart.draw()


def _recorded(path: Path, rank: int) -> dict[int, tuple[int, ...]] | StudioError:
    try:
        return trend.recorded(path, rank)
    except StudioError as error:
        return error


def _curves(path: Path, target: int, metric: int, rank: int, names: tuple[str, ...]) -> Curves | StudioError:
    made: Curves = {}
    for name in names:
        try:
            steps, values = trend.series(path, target, metric, rank, name)
        except StudioError as error:
            return error
        made[name] = Series()
        made[name].extend(steps, values)
    return made
