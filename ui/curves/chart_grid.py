"""All charts of the runs that are looked at, in as many columns as fit, and how they are drawn."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSlider, QWidget

from studio.texts import t
from ui.widgets.basic import GAP, label, text_button
from ui.widgets.chart_lines import Before, Line, rank_styles, run_style
from ui.widgets.charts import Chart
from ui.widgets.localized import localize
from ui.widgets.metric_format import ordered
from ui.widgets.step_range import ViewRange

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from PySide6.QtGui import QResizeEvent, QShowEvent

    from backends.common.marks import Mark
    from studio.series import Series
    from ui.services.watcher import RunWatcher

FRAME, SLOW_FRAME = 66, 500
"""ms between two pictures: of curves that the user moves or that grow visibly, and of those that grow by less."""
VISIBLE = 2
"""Pixels that a curve grows by."""
GROWING = ("running", "unattended", "elsewhere")
MIN_WIDTH = 380
MAX_COLUMNS = 3


class DrawnRun:
    """A run whose curves are in the charts, with the colour it has there."""

    def __init__(self, name: str, index: int, watcher: RunWatcher, before: Sequence[RunWatcher] = ()) -> None:
        """`before`: the runs that it goes on from, the last one first."""
        self.name, self.index, self.curves, self.status = name, index, watcher.curves, watcher.status
        self._chain = (watcher, *before)

    @property
    def is_growing(self) -> bool:
        """Whether its training still writes."""
        glance = self._chain[0].glance
        return self.status.ended is None and glance is not None and glance.state in GROWING

    def lines(self, metric: str, is_alone: bool) -> list[Line]:
        """The run's line, or of several ranks their mean and each of them; and processes that claim one rank."""
        ranks = [rank for rank in self.curves.ranks() if (rank, metric) in self.curves.series]
        mean = self.curves.mean(metric)
        styles = itertools.chain([run_style(self.index)] if mean is None else (), rank_styles(self.index))
        name = "" if is_alone else self.name
        lines = [] if mean is None else [self._mean_line(mean, metric, ranks, name)]
        lines += [
            Line(
                name=self._name(rank, ranks, name), style=next(styles), series=self.curves.series[rank, metric],
                starts=self._starts(rank), before=tuple(self._before(rank, metric)),
            )
            for rank in ranks
        ]  # fmt: skip
        for (rank, pid, of_metric), series in self.curves.processes.items():
            if of_metric == metric:
                process = t("curves.process", rank=rank, pid=pid)
                lines.append(Line(name=f"{name} {process}".strip(), style=next(styles), series=series))
        return lines

    def _mean_line(self, mean: Series, metric: str, ranks: list[int], name: str) -> Line:
        of_ranks = t("curves.mean_of_ranks", n=len(ranks))
        parts = ((watcher.curves.mean(metric), end) for watcher, end in self._parts())
        before = tuple(Before(series=series, end=end) for series, end in parts if series)
        return Line(
            name=f"{name} {of_ranks}".strip(),
            style=run_style(self.index),
            series=mean,
            starts=self._starts(ranks[0]),
            before=before,
        )

    def _starts(self, rank: int) -> tuple[int, ...]:
        """Where a later attempt began, or where it went on from another run."""
        attempts = [step for attempt, step in self.curves.starts(rank).items() if attempt > 1]
        return tuple(attempts + [end for _, end in self._parts()])

    def _parts(self) -> list[tuple[RunWatcher, int]]:
        """The runs before with the step up to which each counts, in the order of the steps. The training says at
        which step it went on; until it has, nothing is known of the runs before."""
        parts: list[tuple[RunWatcher, int]] = []
        for watcher, earlier in itertools.pairwise(self._chain):
            resumed = watcher.status.marks.first("resume")
            if resumed is None:
                break
            parts.insert(0, (earlier, resumed.step))
        return parts

    def _before(self, rank: int, metric: str) -> Iterator[Before]:
        for watcher, end in self._parts():
            series = watcher.curves.series.get((rank, metric))
            if series:
                yield Before(series=series, end=end)

    def _name(self, rank: int, ranks: list[int], name: str) -> str:
        return f"{name} rank {rank}".strip() if len(ranks) > 1 else name


class ChartGrid(QWidget):
    """Redraws at most fifteen times a second, and only charts that can be seen. A curve of an hour takes ten
    seconds to grow by a pixel: it is redrawn twice a second, which is soon enough for a spike.
    """

    def __init__(self) -> None:
        super().__init__()
        self.steps = ViewRange(self)
        self.charts: dict[str, Chart] = {}
        self._drawn_runs: Sequence[DrawnRun] = ()
        self._smoothing = 0.0
        self._columns = 0
        self._drew = 0.0
        self._drawn_to = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(GAP)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.draw)
        self.steps.changed.connect(self.draw_soon)

    def show_runs(self, drawn_run: Sequence[DrawnRun]) -> None:
        self._drawn_runs = drawn_run
        self.draw_soon()

    def smooth(self, weight: float) -> None:
        self._smoothing = weight
        self.draw_soon()

    def draw_soon(self) -> None:
        """Draws at once, or a frame after the last drawing: whatever comes until then is drawn with it."""
        self._draw_after(FRAME)

    def draw_growth(self) -> None:
        """The same for points that came, a slow frame after the last drawing where they take next to no room."""
        grown = self._last_step() - self._drawn_to
        pixel = (self.steps.end - self.steps.begin) * max(1, self._columns) / max(1, self.width())
        is_visible = grown >= VISIBLE * pixel
        self._draw_after(FRAME if is_visible else SLOW_FRAME)

    def _draw_after(self, frame: int) -> None:
        wait = max(0, frame - round((time.monotonic() - self._drew) * 1000))
        if not self._timer.isActive() or self._timer.remainingTime() > wait:
            self._timer.start(wait)

    def _last_step(self) -> int:
        return max((drawn_run.status.step for drawn_run in self._drawn_runs), default=0)

    def draw(self) -> None:
        if not self.isVisible():
            return
        self._drew, self._drawn_to = time.monotonic(), self._last_step()
        is_complete = self._make(self._names())
        self.steps.set_whole(*self._extent(), any(drawn_run.is_growing for drawn_run in self._drawn_runs))
        # The wider range asked for the drawing that is done here.
        self._timer.stop()
        for name, chart in self.charts.items():
            lines = [
                line for drawn_run in self._drawn_runs for line in drawn_run.lines(name, len(self._drawn_runs) == 1)
            ]
            chart.smoothing = self._smoothing
            chart.show_lines(lines)
            chart.show_marks(self._marks_on(name))
            if not chart.visibleRegion().isEmpty():
                chart.draw()
        if not is_complete:
            self._timer.start(0)

    def _marks_on(self, metric: str) -> list[Mark]:
        """The marks of the run at the front: all on its loss, overflows also on the loss scale, which falls at them."""
        kinds = {"loss": ("resume", "nan", "overflow", "checkpoint"), "loss_scale": ("overflow",)}.get(metric, ())
        return (
            [mark for mark in self._drawn_runs[0].status.marks.marks if mark.kind in kinds] if self._drawn_runs else []
        )

    def _names(self) -> list[str]:
        return ordered(list(dict.fromkeys(name for drawn_run in self._drawn_runs for name in drawn_run.curves.names())))

    def _extent(self) -> tuple[float, float]:
        ends = [
            (series.point(0)[0], series.point(-1)[0])
            for drawn_run in self._drawn_runs for series in drawn_run.curves.every_series() if len(series)
        ]  # fmt: skip
        begins = [
            part.series.point(0)[0] for drawn_run in self._drawn_runs for name in drawn_run.curves.names()
            for line in drawn_run.lines(name, is_alone=True) for part in line.before
        ]  # fmt: skip
        return (min([*begins, *(end[0] for end in ends)]), max(end[1] for end in ends)) if ends else (0, 1)

    def _make(self, names: list[str]) -> bool:
        """The charts of these metrics. A chart takes 20 ms to make: one at a time; False while some are missing."""
        missing = [name for name in names if name not in self.charts]
        names_to_keep = {*self.charts, *missing[:1]} & set(names)
        if names_to_keep != set(self.charts):
            for name in self.charts.keys() - names_to_keep:
                self._drop(self.charts.pop(name))
            if missing:
                self.charts[missing[0]] = Chart(missing[0], self.steps)
            self.charts = {name: self.charts[name] for name in names if name in names_to_keep}
            self._arrange()
        return len(missing) <= 1

    def _drop(self, chart: Chart) -> None:
        """Out of the grid at once: it is deleted later, and another chart stands in its place by then."""
        chart.hide()
        self._grid.removeWidget(chart)
        chart.deleteLater()

    def _arrange(self) -> None:
        columns = self._columns_that_fit()
        self._columns = columns
        for index, chart in enumerate(self.charts.values()):
            self._grid.addWidget(chart, index // columns, index % columns)
            chart.show()
        for column in range(MAX_COLUMNS):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)

    def _columns_that_fit(self) -> int:
        return max(1, min(MAX_COLUMNS, (self.width() + GAP) // (MIN_WIDTH + GAP)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._columns_that_fit() != self._columns and self.charts:
            self._arrange()
        self.draw_soon()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.draw_soon()


class ChartTools(QWidget):
    def __init__(self, grid: ChartGrid) -> None:
        super().__init__()
        self._grid = grid
        caption = label("curves.smoothing", "hint")
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setObjectName("curves.smoothing")
        self._slider.setRange(0, 99)
        self._slider.setFixedWidth(120)
        caption.setBuddy(self._slider)
        localize(self._slider.setToolTip, "curves.smoothing_hint")
        localize(self._slider.setAccessibleName, "curves.smoothing")
        self._weight = QLabel("0.00")
        self._weight.setProperty("role", "hint")
        self._slider.valueChanged.connect(self._smooth)
        show_all = text_button("curves.show_all", "curves.show_all")
        show_all.clicked.connect(lambda: grid.steps.show_all())
        localize(show_all.setToolTip, "curves.show_all_hint")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for widget in (caption, self._slider, self._weight, show_all):
            row.addWidget(widget)

    def _smooth(self, percent: int) -> None:
        self._weight.setText(f"{percent / 100:.2f}")
        self._grid.smooth(percent / 100)
