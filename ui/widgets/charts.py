"""One chart: a metric of one or several runs over their steps.

Lines are drawn from `Series.outline`, never from all points. 1-pixel pens: a wider one costs ten times as much.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import QCheckBox, QSizePolicy

from studio.texts import t
from studio.units import number
from ui.widgets import theme
from ui.widgets.basic import Card, label
from ui.widgets.chart_legend import HEAD, Entry, Legend
from ui.widgets.chart_lines import SHAPES, is_connected, is_sparse
from ui.widgets.event_marks import EventMarks
from ui.widgets.localized import localize
from ui.widgets.metric_format import (
    LOGARITHMIC,
    format_of,
    title_of,
    unit_of,
    value_of,
)
from ui.widgets.plain_tip import plain_tip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from PySide6.QtCore import QObject

    from backends.common.marks import Mark
    from ui.widgets.chart_lines import Line
    from ui.widgets.step_range import ViewRange

    Points = tuple[NDArray[np.float64], NDArray[np.float64]]

MAX_MARKS = 400
SHAPES_ALONG = 9
MAX_POINTS = 200
"""Values in a picture that can be told apart as points."""
NO_VALUE = "–"
"""Where a run has no step, it has no value."""
LEFT_WIDTH = 58
TICK_SIZE = 11
HEIGHT = 208
ROOM = 0.06
"""Above and below the curves, in parts of their height."""


class _StepsBox(pg.ViewBox):  # type: ignore[misc]  # pyqtgraph has no types
    """Ctrl and wheel zoom the steps, dragging moves them, a double click shows all. The heights fit what is in view."""

    def __init__(self, steps: ViewRange) -> None:
        super().__init__(enableMenu=False, defaultPadding=0.0)
        self.setMouseEnabled(x=True, y=False)
        self.disableAutoRange()
        self._steps = steps

    def wheelEvent(self, event: Any, axis: Any = None) -> None:
        around = self.mapSceneToView(event.scenePos()).x()
        self._steps.zoom(0.85 ** (event.delta() / 120), around)
        event.accept()

    def mouseDragEvent(self, event: Any, axis: Any = None) -> None:
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            moved = self.mapSceneToView(event.lastScenePos()).x() - self.mapSceneToView(event.scenePos()).x()
            self._steps.move(moved)
            event.accept()

    def mouseClickEvent(self, event: Any) -> None:
        if event.double():
            self._steps.show_all()
            event.accept()


class _Axis(pg.AxisItem):  # type: ignore[misc]
    """Numbers as a person writes them; of a logarithmic axis the powers of ten."""

    def tickStrings(self, values: Any, scale: float, spacing: float) -> list[str]:
        if self.logMode:
            return [number(10.0**value, 2) for value in values]
        return [_tick(value * scale, spacing * scale) for value in values]

    def logTickStrings(self, values: Any, scale: float, spacing: float) -> list[str]:
        return self.tickStrings(values, scale, spacing)


class _StepAxis(_Axis):
    def tickSpacing(self, low: float, high: float, size: float) -> list[tuple[float, float]]:
        """There is nothing between two steps."""
        return [level for level in super().tickSpacing(low, high, size) if level[0] >= 1] or [(1.0, 0.0)]


def _tick(value: float, spacing: float) -> str:
    if abs(value) < spacing / 1000:
        return "0"
    if abs(value) >= 1e6 or spacing < 1e-5:
        return f"{value:.3g}"
    places = max(0, -math.floor(math.log10(spacing) + 1e-9)) if spacing < 1 else 0
    return f"{value:,.{places}f}".replace(",", "\u2009")


class Chart(Card):
    """Its head names the metric and the lines, each with its value at the pointer, or its last one."""

    def __init__(self, metric: str, steps: ViewRange) -> None:
        super().__init__("")
        self.setObjectName(f"curves.chart.{metric}")
        self.metric_name = metric
        self.is_log = False
        self.smoothing = 0.0
        self._steps = steps
        self._lines: Sequence[Line] = ()
        self._drawn: list[_Drawn] = []
        self._part: tuple[tuple[float, float], tuple[float, float]] | None = None
        self._fitted: tuple[float, float] | None = None
        self.body.setContentsMargins(14, 10, 10, 8)
        self.body.setSpacing(4)
        self._make_head()
        self._make_plot()
        self.setMinimumHeight(HEIGHT)
        steps.hovered.connect(self._show_values)
        theme.notifier().changed.connect(self._recolour)
        self._recolour()
        self.retranslate()

    def _make_head(self) -> None:
        self._name = label(role="strong")
        self._legend = Legend()
        self.header.setContentsMargins(0, 0, 6, 0)
        self.header.addWidget(self._name)
        self._sampled = label("curves.sampled", "hint")
        self._sampled.setObjectName(f"curves.sampled.{self.metric_name}")
        self._sampled.hide()
        self.header.addWidget(self._sampled)
        self._log = QCheckBox()
        self._log.setObjectName(f"curves.log.{self.metric_name}")
        localize(self._log.setText, "curves.log_scale")
        localize(self._log.setToolTip, "curves.log_scale_hint")
        self._log.setFixedHeight(HEAD)
        self._log.toggled.connect(self._set_log)
        self.header.addWidget(self._legend, 1)
        if self.metric_name in LOGARITHMIC:
            self.header.addWidget(self._log)
        else:
            self._log.setParent(self)
            self._log.hide()

    def _make_plot(self) -> None:
        self._box = _StepsBox(self._steps)
        self._left, self._bottom = _Axis("left"), _StepAxis("bottom")
        self.plot = pg.PlotWidget(viewBox=self._box, axisItems={"left": self._left, "bottom": self._bottom})
        self.plot.setFrameShape(pg.PlotWidget.Shape.NoFrame)
        self.plot.setMenuEnabled(False)
        self.plot.hideButtons()
        self.plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._left.setWidth(LEFT_WIDTH)
        self._left.setGrid(255)
        self._left.setStyle(tickLength=0, maxTickLevel=0)
        self._bottom.setStyle(tickLength=4, maxTickLevel=0)
        for axis in (self._left, self._bottom):
            axis.enableAutoSIPrefix(False)
            # Behind the curves: a grid line would hide a value that does not change.
            axis.setZValue(-1000)
        self._marks = EventMarks(self.plot)
        self._cross = pg.InfiniteLine(angle=90, movable=False)
        self._cross.hide()
        self.plot.addItem(self._cross, ignoreBounds=True)
        self.plot.scene().sigMouseMoved.connect(self._point)
        self.plot.viewport().installEventFilter(self)
        # It fills its background: nothing behind it needs to be painted with each picture.
        self.plot.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        # Its own hint is 480 pixels high; here the grid decides how much room there is.
        self.plot.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.body.addWidget(self.plot, 1)

    def eventFilter(self, watched: QObject, event: Any) -> bool:
        if event.type() == event.Type.Leave:
            self._steps.point_at(None)
        if event.type() == event.Type.Wheel and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()  # the wheel alone scrolls the page that the chart is on
            return True
        return super().eventFilter(watched, event)

    def show_lines(self, lines: Sequence[Line]) -> None:
        """These from now on; `draw` draws them."""
        if [line.style for line in lines] != [line.style for line in self._lines]:
            for drawn in self._drawn:
                drawn.remove(self.plot)
            self._drawn = [_Drawn(self.plot, line, -index) for index, line in enumerate(lines)]
            self._recolour()
            self._fitted = None
        self._lines = lines

    def show_marks(self, marks: Sequence[Mark]) -> None:
        """Set the marks at the upper edge."""
        self._marks.show_marks(marks)

    def draw(self) -> None:
        """Draw what is in view: about 1 ms per line, however long it is."""
        pixels = max(200, int(self._box.width()))
        steps = self._steps
        outlines = [self._heights(line.series.outline(steps.begin, steps.end, pixels)) for line in self._lines]
        befores = [self._heights(_outline_before(line, steps.begin, steps.end, pixels)) for line in self._lines]
        heights = self._fit([self._in_view(points) for points in (*outlines, *befores)])
        low, high = heights[0], self._marks.draw((steps.begin, steps.end), heights, pixels)
        self._move((steps.begin, steps.end), (low, high))
        for drawn, line, points, before in zip(self._drawn, self._lines, outlines, befores, strict=True):
            drawn.draw(line, points, before, self.smoothing, len(self._lines) > 1, (steps.begin, steps.end))
            drawn.draw_marks(line, (steps.begin, steps.end), (low, high))
        self._show_values(steps.hover)
        self._show_sampling()

    def _show_sampling(self) -> None:
        """Say of the first line that it has a value now and then, so that nobody reads a trend between two of them."""
        series = self._lines[0].series if self._lines else None
        self._sampled.setVisible(series is not None and is_sparse(series))
        if series is not None and self._sampled.isVisibleTo(self):
            first, last = series.point(0)[0], series.point(-1)[0]
            hint = t("curves.sampled_hint", points=len(series), first=first, last=last)
            self._sampled.setToolTip(plain_tip(hint))

    def _move(self, view: tuple[float, float], heights: tuple[float, float]) -> None:
        """Show a part of the plane. A part that is shown already costs nothing: the axes stay as they are."""
        if (view, heights) != self._part:
            self._part = (view, heights)
            # A little room, so that the shape of the last point is whole.
            self._box.setXRange(*view, padding=0.01)
            self._box.setYRange(*heights, padding=0)

    def _heights(self, points: Points) -> Points:
        x, y = points
        y = y * format_of(self.metric_name).times
        if self.is_log:
            with np.errstate(divide="ignore", invalid="ignore"):
                y = np.where(y > 0, np.log10(y), np.nan)
        return x, y

    def _in_view(self, points: Points) -> NDArray[np.float64]:
        """The heights that the picture has to hold. The points just outside it count only where none is inside. The
        first step compiles, or loads kernels: with it in, nothing could be told from the other step times."""
        x, y = points
        inside = y[(x >= self._steps.begin) & (x <= self._steps.end) & np.isfinite(y)]
        if self.metric_name == "step_time" and len(inside) > 2 and self._steps.begin <= x[0]:
            inside = inside[1:]
        finite: NDArray[np.float64] = inside if len(inside) else y[np.isfinite(y)]
        return finite

    def _fit(self, heights: list[NDArray[np.float64]]) -> tuple[float, float]:
        nonempty = [part for part in heights if len(part)]
        if not nonempty:
            return 0.0, 1.0
        low, high = min(float(part.min()) for part in nonempty), max(float(part.max()) for part in nonempty)
        if self._fitted is None or not (self._steps.is_growing and _fits((low, high), self._fitted)):
            room = (high - low) * ROOM or abs(high) * 0.1 or 0.5
            floor = low - room
            # A loss, a time or a rate is never below zero: the axis does not suggest it.
            floor = max(floor, 0.0) if low >= 0 and not self.is_log and floor < 0 else floor
            self._fitted = (floor, high + room)
        return self._fitted

    def _point(self, index: QPointF) -> None:
        inside = self._box.sceneBoundingRect().contains(index)
        self._steps.point_at(round(self._box.mapSceneToView(index).x()) if inside else None)

    def _show_values(self, step: float | None) -> None:
        """At the pointer, in all charts at once."""
        self._cross.setVisible(step is not None)
        if step is not None:
            self._cross.setValue(step)
        entries = []
        for line in self._lines:
            point = line.last() if step is None else line.nearest(step)
            value = NO_VALUE if point is None else value_of(self.metric_name, point[1])
            if point is not None and step is not None and point[0] != int(step):
                value = t("curves.value_of_step", value=value, step=point[0])  # none was measured at the pointer
            entries.append(Entry(style=line.style, name=line.name, value=value))
        self._legend.show_entries(entries, "" if step is None else t("curves.at_step", step=int(step)))

    def _set_log(self, is_log: bool) -> None:
        self.is_log = is_log
        self._fitted = None
        self._left.setLogMode(is_log)
        self.draw()

    def _recolour(self) -> None:
        surface, line, dim = theme.color("surface"), theme.color("line"), theme.color("dim")
        self.plot.setBackground(surface)
        font = QFont(self.font())
        font.setPixelSize(TICK_SIZE)
        for axis in (self._left, self._bottom):
            axis.setPen(pg.mkPen(line))
            axis.setTextPen(pg.mkPen(dim))
            axis.setTickFont(font)
        self._left.setTickPen(pg.mkPen(line))
        self._cross.setPen(pg.mkPen(theme.color("edge"), style=Qt.PenStyle.DashLine))
        for drawn in self._drawn:
            drawn.recolour()
        self._marks.recolour()
        self._legend.update()

    def retranslate(self) -> None:
        unit = unit_of(self.metric_name)
        self._name.setText(f"{title_of(self.metric_name)} ({unit})" if unit else title_of(self.metric_name))
        self._show_values(self._steps.hover)


def _fits(curve: tuple[float, float], picture: tuple[float, float]) -> bool:
    """Return whether the heights of a picture hold those of a curve that grows, and leave about the usual room."""
    below, above, height = curve[0] - picture[0], picture[1] - curve[1], curve[1] - curve[0]
    return 0 <= below <= 2 * ROOM * height and 0 < above <= 2 * ROOM * height


class _Drawn:
    """The items of one line: the line, the raw one behind a smoothed one, shapes, marks and beginnings of attempts."""

    def __init__(self, plot: pg.PlotWidget, line: Line, height: int) -> None:
        """`height`: the first line, the chosen run's, lies on top."""
        self._style = line.style
        self._raw = pg.PlotCurveItem(connect="finite")
        self._curve = pg.PlotCurveItem(connect="finite")
        self._shapes = pg.ScatterPlotItem(symbol=SHAPES[line.style.shape or 0], size=7, pxMode=True)
        self._marks = pg.ScatterPlotItem(size=10, pxMode=True, hoverable=True, tip=_tip)
        self._starts = pg.PlotCurveItem(connect="pairs")
        self._before = pg.PlotCurveItem(connect="finite")
        for item in self._items():
            plot.addItem(item, ignoreBounds=True)
            item.setZValue(height)
            item.hide()
        self.recolour()

    def _items(self) -> tuple[pg.GraphicsObject, ...]:
        return self._starts, self._before, self._raw, self._curve, self._shapes, self._marks

    def remove(self, plot: pg.PlotWidget) -> None:
        for item in self._items():
            plot.removeItem(item)

    def recolour(self) -> None:
        color = theme.series_color(self._style.color)
        if self._style.is_pale:
            color.setAlpha(130)
        pale = QColor(color)
        pale.setAlpha(80)
        self._raw.setPen(pg.mkPen(pale))
        pale.setAlpha(150)
        self._before.setPen(pg.mkPen(pale))
        self._curve.setPen(pg.mkPen(color))
        self._shapes.setPen(pg.mkPen(color))
        self._shapes.setBrush(pg.mkBrush(theme.color("surface")))
        self._marks.setPen(pg.mkPen(theme.color("bad")))
        self._marks.setBrush(pg.mkBrush(theme.color("bad")))
        self._starts.setPen(pg.mkPen(theme.color("faint"), style=Qt.PenStyle.DotLine))

    def draw(
        self,
        line: Line,
        points: Points,
        before: Points,
        smoothing: float,
        is_several: bool,
        view: tuple[float, float],
    ) -> None:
        """`before`: the line of the runs that this one was resumed from; it ends at this one's first point."""
        (x, y), (x_before, y_before) = points, before
        if smoothing and len(x) > 2:
            _show(self._raw, x, y)
            whole = smoothed(np.concatenate((y_before, y)), smoothing)
            y_before, y = whole[: len(y_before)], whole[len(y_before) :]
        else:
            _show(self._raw, [], [])
        joint = 1 if len(x_before) else 0
        _show(self._before, np.append(x_before, x[:joint]), np.append(y_before, y[:joint]))
        is_points = is_sparse(line.series) and len(x) <= MAX_POINTS
        _show(self._curve, *((x, y) if not is_points or is_connected(x) else ([], [])))
        has_shape = is_several and self._style.shape is not None
        _show(self._shapes, *_along(x, y, view, len(x) if is_points else SHAPES_ALONG if has_shape else 0))

    def draw_marks(self, line: Line, view: tuple[float, float], heights: tuple[float, float]) -> None:
        _show(self._marks, [_mark(step, value, heights) for step, value in line.series.gaps(*view, MAX_MARKS)])
        starts = [start for start in line.starts if view[0] <= start <= view[1]]
        _show(self._starts, np.repeat(starts, 2).astype(float), np.tile(heights, len(starts)).astype(float))


def _show(item: pg.PlotCurveItem | pg.ScatterPlotItem, *data: Any) -> None:
    """Give an item its data. Most items are empty: hidden they cost nothing, else as much as a curve."""
    if len(data[0]) or item.isVisible():
        item.setData(*data)
        item.setVisible(bool(len(data[0])))


def _outline_before(line: Line, begin: float, end: float, pixels: int) -> Points:
    """What earlier runs drew between two steps, each up to where the next one went on."""
    x, y = np.empty(0), np.empty(0)
    for part in line.before:
        if part.end >= begin:
            steps, values = part.series.outline(begin, min(end, part.end), pixels)
            nonempty = steps <= part.end
            x, y = np.concatenate((x, steps[nonempty])), np.concatenate((y, values[nonempty]))
    return x, y


def _mark(step: int, value: float, heights: tuple[float, float]) -> dict[str, object]:
    """NaN as a cross at the lower edge, the infinities as triangles at the edge that they left through."""
    low, high = heights
    room = (high - low) * 0.03
    index = high - room if value > 0 else low + room
    symbol = "x" if math.isnan(value) else "t1" if value > 0 else "t"
    return {"pos": (step, index), "symbol": symbol, "data": (step, value)}


def _tip(x: float, y: float, data: tuple[int, float]) -> str:
    step, value = data
    return t("mark.nan" if math.isnan(value) else "mark.inf", step=step)


def _along(x: NDArray[np.float64], y: NDArray[np.float64], view: tuple[float, float], n: int) -> Points:
    """A few points along a line for its shapes; the only point of a line always has one."""
    inside = np.flatnonzero((x >= view[0]) & (x <= view[1]) & np.isfinite(y))
    if len(inside) == 1:
        return x[inside], y[inside]
    if not n or not len(inside):
        return x[:0], y[:0]
    chosen = inside[np.unique(np.linspace(0, len(inside) - 1, n).astype(int))]
    return x[chosen], y[chosen]


def smoothed(y: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
    """Return the exponential moving average of what is drawn, corrected for its start at zero; gaps stay gaps."""
    average = share = 0.0
    smooth = np.empty_like(y)
    for index, value in enumerate(y.tolist()):
        if value == value:
            average = average * weight + (1 - weight) * value
            share = share * weight + (1 - weight)
        smooth[index] = average / share if value == value else math.nan
    return smooth
