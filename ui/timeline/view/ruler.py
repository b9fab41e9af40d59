"""The time axis above the lanes: ticks, steps and marks. Dragging selects a range, the wheel zooms."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.texts import t
from ui.timeline.drawing.labels import label_font
from ui.timeline.drawing.time_text import ticks_of
from ui.widgets import theme

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtGui import QMouseEvent, QPaintEvent, QWheelEvent

    from backends.timeline.query.notes import Mark
    from backends.timeline.trace import Step
    from ui.timeline.state.view_state import ViewState

RULER_HEIGHT, STEPS = 42, 18
STEP_PX = 3
FLAG = 9


class Ruler(QWidget):
    mark_chosen = Signal(int)

    def __init__(self, state: ViewState) -> None:
        super().__init__()
        self.setObjectName("timeline_ruler")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(RULER_HEIGHT)
        self._state = state
        self._pressed: float | None = None
        self._pointed: float | None = None
        for signal in (
            state.trace_changed,
            state.viewport.range_changed,
            state.appearance_changed,
            state.marks_changed,
        ):
            signal.connect(self.update)
        state.selection.range_chosen.connect(self.update)
        theme.notifier().changed.connect(self.update)

    def point(self, time: float | None) -> None:
        """Draw a line at the pointer."""
        self._pointed = time
        self.update()

    def retranslate(self) -> None:
        self.update()

    def x_of(self, time: float) -> float:
        return (time - self._state.viewport.begin) / self._state.viewport.span * self.width()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("surface"))
        if self._state.trace is not None:
            self.paint(painter)
        painter.end()

    def paint(self, painter: QPainter) -> None:
        painter.setFont(label_font())
        self._range(painter)
        self._steps(painter)
        self._ticks(painter)
        self._marks(painter)
        if self._pointed is not None:
            painter.setPen(QPen(theme.color("edge"), 1))
            x = self.x_of(self._pointed)
            painter.drawLine(QLineF(x, RULER_HEIGHT - 12, x, RULER_HEIGHT))
        painter.setPen(QPen(theme.color("rim"), 1))
        painter.drawLine(QLineF(0, RULER_HEIGHT - 0.5, self.width(), RULER_HEIGHT - 0.5))

    def _range(self, painter: QPainter) -> None:
        chosen = self._state.selection.range
        if chosen is not None:
            left, right = self.x_of(chosen.begin), self.x_of(chosen.end)
            painter.fillRect(QRectF(left, STEPS, max(1.0, right - left), RULER_HEIGHT - STEPS), theme.color("selected"))

    def _ticks(self, painter: QPainter) -> None:
        state = self._state
        ticks = ticks_of(state.trace, state.time_mode, state.viewport.begin, state.viewport.end, self.width())
        painter.setPen(QPen(theme.color("rim"), 1))
        painter.drawLines([QLineF(x, RULER_HEIGHT - 4, x, RULER_HEIGHT) for x in map(self.x_of, ticks.minor)])
        painter.setPen(QPen(theme.color("edge"), 1))
        painter.drawLines([QLineF(x, RULER_HEIGHT - 8, x, RULER_HEIGHT) for x in map(self.x_of, ticks.times)])
        painter.setPen(theme.color("dim"))
        metrics = painter.fontMetrics()
        for time, label in zip(ticks.times, ticks.labels, strict=True):
            x = self.x_of(time) + 4
            if x + metrics.horizontalAdvance(label) < self.width():
                painter.drawText(QPointF(x, RULER_HEIGHT - 11), label)

    def base_text(self) -> str:
        """Return what the labels of the ticks are added to; empty where they stand for themselves."""
        state = self._state
        return ticks_of(state.trace, state.time_mode, state.viewport.begin, state.viewport.end, self.width()).base

    def _steps(self, painter: QPainter) -> None:
        for step in self.visible_steps():
            self._step(painter, step.number, self.x_of(step.start), self.x_of(step.end))

    def visible_steps(self) -> Iterator[Step]:
        """Yield the steps that are drawn: all that overlap the view, thinned out where they begin within STEP_PX of
        each other."""
        state, steps = self._state, self._state.steps
        starts = [step.start for step in steps]
        apart = STEP_PX * state.viewport.span / max(1, self.width())
        number = max(0, bisect_right(starts, state.viewport.begin) - 1)
        while number < len(steps) and steps[number].start < state.viewport.end:
            if steps[number].end > state.viewport.begin:
                yield steps[number]
            number = max(number + 1, bisect_left(starts, steps[number].start + apart))

    def _step(self, painter: QPainter, number: int, left: float, right: float) -> None:
        left, right = max(left, -2.0), min(right, self.width() + 2.0)
        box = QRectF(left, 1, max(1.0, right - left - 1), STEPS - 3)
        painter.fillRect(box, theme.color("selected"))
        painter.fillRect(QRectF(left, 1, 1, STEPS - 3), theme.color("edge"))
        text = t("timeline.view.step", step=number)
        metrics = painter.fontMetrics()
        for title in (text, str(number)):
            if metrics.horizontalAdvance(title) + 8 <= box.width():
                painter.setPen(theme.color("text"))
                painter.drawText(box.adjusted(6, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, title)
                return

    def _marks(self, painter: QPainter) -> None:
        metrics = painter.fontMetrics()
        for mark in self._state.marks:
            x = self._x_of_mark(mark)
            if -FLAG < x < self.width():  # no text without its flag: it would lie over the name of a step
                color = theme.series_color(mark.color)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(color)
                painter.drawPolygon(QPolygonF([QPointF(x, 2), QPointF(x + FLAG, 2 + FLAG / 2), QPointF(x, 2 + FLAG)]))
                painter.fillRect(QRectF(x, 2, 1, RULER_HEIGHT - 2), color)
                elided = metrics.elidedText(" ".join(mark.text[:200].split()), Qt.TextElideMode.ElideRight, 160)
                wide = metrics.horizontalAdvance(elided)
                if elided:
                    painter.fillRect(QRectF(x + FLAG + 1, 1, wide + 6, STEPS - 3), theme.color("surface"))
                    painter.setPen(theme.color("text"))
                    painter.drawText(
                        QRectF(x + FLAG + 4, 1, wide + 4, STEPS - 3), Qt.AlignmentFlag.AlignVCenter, elided
                    )

    def _time_at(self, x: float) -> float:
        return (
            self._state.viewport.begin
            + min(max(x, 0.0), self.width()) / max(1, self.width()) * self._state.viewport.span
        )

    def mousePressEvent(self, event: QMouseEvent) -> None:
        x = event.position().x()
        marked = self.mark_at(x) if event.position().y() < STEPS else -1
        if marked >= 0:
            self.mark_chosen.emit(marked)
        elif event.button() == Qt.MouseButton.LeftButton:
            self._pressed = self._time_at(x)

    def _x_of_mark(self, mark: Mark) -> float:
        return self.x_of(self._state.times_of_mark(mark)[0])

    def mark_at(self, x: float) -> int:
        at = [number for number, mark in enumerate(self._state.marks) if -3 <= x - self._x_of_mark(mark) <= FLAG + 3]
        return at[-1] if at else -1

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is not None:
            begin, end = sorted((self._pressed, self._time_at(event.position().x())))
            if round(end) > round(begin):
                self._state.choose_drawn(begin, end)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._pressed is not None and abs(self.x_of(self._pressed) - event.position().x()) < 3:
            self._state.selection.choose_range(None)
        self._pressed = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        time = self._time_at(event.position().x())
        for step in self._state.steps:
            if step.start <= time < step.end:
                self._state.viewport.fit(step.start, step.end)
                return

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._state.viewport.zoom(1.2 ** (-event.angleDelta().y() / 120), self._time_at(event.position().x()))
        event.accept()
