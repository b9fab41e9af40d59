"""The whole trace in a strip: how busy each kind of lane is, what is in view, hits and marks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QImage, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from backends.timeline.kinds import FAMILIES
from studio.texts import t
from ui import theme
from ui.asking import ask
from ui.say import say
from ui.timeline import colors
from ui.timeline.frame import LEVELS, columns_of, edges_of, lines, shade_begins

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PySide6.QtGui import QMouseEvent, QPaintEvent, QWheelEvent

    from backends.timeline.kinds import LaneKind
    from backends.timeline.trace import Trace
    from ui.timeline.state import ViewState

HEIGHT, TOP, BOTTOM = 46, 4, 4
COLUMNS = 1000
MOST_ROWS = 240  # of a kind: the fullest
MOST_HITS = 200_000
EDGE = 5  # px at the sides of the window that can be drawn
KINDS: dict[LaneKind, str] = {
    "host": "timeline.view.strip_host", "api": "timeline.view.strip_api", "device": "timeline.view.strip_device",
    "communication": "timeline.view.strip_communication", "other": "timeline.view.strip_other",
}  # fmt: skip
LEVEL, IDLE = 16, FAMILIES.index("free")
SHOWN = 1 << 11  # whatever is not waiting comes before what is


@dataclass(frozen=True, kw_only=True)
class Strip:
    """Of one kind of lane, in each of COLUMNS: how busy its busiest row is, 0 to LEVELS, and the family of what it
    does, a place in FAMILIES. A row that only waits is looked at where no other does anything."""

    kind: LaneKind
    level: NDArray[np.uint32]
    family: NDArray[np.uint32]


def strips_of(trace: Trace) -> list[Strip]:
    """One for each kind of lane that there is."""
    columns, edges = columns_of(trace), edges_of(0.0, float(trace.span), COLUMNS)
    shades, told = shade_begins(np.asarray(trace.name_family)), _told()
    kinds = np.array([lane.kind for lane in trace.meta.lanes], object)[np.asarray(trace.row_lane)]
    filled = np.asarray(trace.cover)[np.asarray(trace.row_begin)]
    found: list[Strip] = []
    for kind in KINDS:
        rows = np.flatnonzero(kinds == kind)
        rows = rows[np.argsort(-np.diff(filled)[rows], kind="stable")[:MOST_ROWS]].astype(np.int64)
        if len(rows):
            made = lines(columns, rows, np.zeros(len(rows), np.int64), edges, shades, told).max(axis=0)
            found.append(Strip(kind=kind, level=made % SHOWN // LEVEL, family=made % LEVEL))
    return found


def _told() -> NDArray[np.uint32]:
    """For `frame.lines` in place of colours: a number for each family and level, the greatest of which is shown."""
    family, level = np.arange(len(FAMILIES), dtype=np.uint32)[:, None], np.arange(LEVELS + 1, dtype=np.uint32)
    told: NDArray[np.uint32] = (family != IDLE) * np.uint32(SHOWN) + level * np.uint32(LEVEL) + family
    told[:, 0] = 0
    return told


class Minimap(QWidget):
    """Dragging the window moves the view, its sides draw it wider; dragging elsewhere shows what was drawn."""

    def __init__(self, state: ViewState) -> None:
        super().__init__()
        self.setObjectName("timeline_minimap")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(HEIGHT)
        self.setMouseTracking(True)
        say(self, "setAccessibleName", "timeline.view.minimap")
        self._state = state
        self._strips: list[Strip] = []
        self._image: QImage | None = None
        self._hits: NDArray[np.int64] = np.empty(0, np.int64)
        self._drag = ""
        self._pressed = 0.0
        self._pressed_range = (0.0, 0.0)
        state.trace_changed.connect(self._look)
        state.hits_changed.connect(self._find_hits)
        for signal in (state.range_changed, state.marks_changed):
            signal.connect(self.update)
        state.range_chosen.connect(self.update)
        theme.notifier().changed.connect(self._draw_again)

    def _look(self) -> None:
        trace = self._state.trace
        self._strips, self._image = [], None
        self.retranslate()
        self.update()
        if trace is not None:
            ask(self, lambda: strips_of(trace), lambda strips: self._show(trace, strips))

    def _show(self, trace: Trace, strips: list[Strip]) -> None:
        if trace is self._state.trace:
            self._strips = strips
            self.retranslate()
            self._draw_again()

    def retranslate(self) -> None:
        rows = t("timeline.view.strip_and").join(t(KINDS[strip.kind]) for strip in self._strips)
        self.setToolTip(t("timeline.view.strip", rows=rows) if rows else "")

    def _draw_again(self) -> None:
        self._image = None
        self.update()

    def _find_hits(self) -> None:
        """In which pixel columns there are some; of very many only every so-manieth is looked at."""
        trace, hits = self._state.trace, self._state.hits
        if trace is None or not len(hits):
            self._hits = np.empty(0, np.int64)
        else:
            start = trace.start[hits[:: max(1, len(hits) // MOST_HITS)]]
            self._hits = np.unique((start.astype(np.float64) / trace.span * COLUMNS).astype(np.int64))
        self.update()

    def x_of(self, time: float) -> float:
        low, high = self._state.whole
        return (time - low) / (high - low) * self.width()

    def _time_at(self, x: float) -> float:
        low, high = self._state.whole
        return low + x / max(1, self.width()) * (high - low)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("surface"))
        if self._state.trace is not None:
            self.paint(painter)
        painter.end()

    def paint(self, painter: QPainter) -> None:
        trace = self._state.trace
        assert trace is not None
        left, right = self.x_of(0), self.x_of(trace.span)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        if self._strips:
            self._image = self._image or self._make()
            painter.drawImage(QRectF(left, TOP, right - left, HEIGHT - TOP - BOTTOM), self._image)
        self._draw_hits(painter, left, (right - left) / COLUMNS)
        for mark in self._state.marks:
            painter.fillRect(
                QRectF(self.x_of(self._state.times_of_mark(mark)[0]), 0, 2, HEIGHT), theme.series_color(mark.color)
            )
        chosen = self._state.selected_range
        if chosen is not None:
            width = max(1.0, self.x_of(chosen.end) - self.x_of(chosen.begin))
            painter.fillRect(QRectF(self.x_of(chosen.begin), HEIGHT - 4, width, 3), theme.color("accent"))
        self._draw_window(painter)

    def _make(self) -> QImage:
        """Strips below each other, each with a line of background between."""
        height = HEIGHT - TOP - BOTTOM
        surface = theme.color("surface")
        pixels = np.full((height, COLUMNS), surface.rgb(), np.uint32)
        each, table = height / len(self._strips), colors.table(theme.current())
        for number, strip in enumerate(self._strips):
            first, behind = round(number * each), round((number + 1) * each) - 1
            busy = table[strip.family * colors.SHADES, strip.level]
            pixels[first : max(first + 1, behind)] = np.where(strip.level, busy, np.uint32(surface.rgb()))
        return QImage(pixels.data, COLUMNS, height, COLUMNS * 4, QImage.Format.Format_RGB32).copy()

    def _draw_hits(self, painter: QPainter, left: float, each: float) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("bad"))
        for column in self._hits.tolist():
            painter.drawRect(QRectF(left + column * each, 0, max(2.0, each), 5))

    def _draw_window(self, painter: QPainter) -> None:
        box = self._window()
        veil = theme.color("page")
        veil.setAlphaF(0.62)
        painter.fillRect(QRectF(0, 0, box.left(), HEIGHT), veil)
        painter.fillRect(QRectF(box.right(), 0, self.width() - box.right(), HEIGHT), veil)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.color("accent"), 1))
        painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))

    def _window(self) -> QRectF:
        left, right = self.x_of(self._state.begin), self.x_of(self._state.end)
        if right - left < 4:
            left, right = (left + right) / 2 - 2, (left + right) / 2 + 2
        return QRectF(QRect(round(left), 0, max(4, round(right - left)), HEIGHT))

    def _part_at(self, place: QPointF) -> str:
        box = self._window()
        if abs(place.x() - box.left()) <= EDGE and not self._state.is_whole:
            return "left"
        if abs(place.x() - box.right()) <= EDGE and not self._state.is_whole:
            return "right"
        return "move" if box.contains(place) and not self._state.is_whole else "draw"

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._drag = self._part_at(event.position())
            self._pressed = event.position().x()
            self._pressed_range = (self._state.begin, self._state.end)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not self._drag:
            aside = self._part_at(event.position()) in ("left", "right")
            self.setCursor(Qt.CursorShape.SizeHorCursor if aside else Qt.CursorShape.ArrowCursor)
            return
        begin, end = self._pressed_range
        x, state = event.position().x(), self._state
        if self._drag == "move":
            by = self._time_at(x) - self._time_at(self._pressed)
            state.show(begin + by, end + by, is_move=True)
        elif self._drag == "left":
            state.show(min(self._time_at(x), end - 1), end, is_move=True)
        elif self._drag == "right":
            state.show(begin, max(self._time_at(x), begin + 1), is_move=True)
        elif abs(x - self._pressed) >= 4:
            state.show(*sorted((self._time_at(self._pressed), self._time_at(x))), is_move=True)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        state, x = self._state, event.position().x()
        if self._drag == "draw" and abs(x - self._pressed) < 4 and not state.is_whole:
            middle = self._time_at(x)
            state.show(middle - state.span / 2, middle + state.span / 2)
        self._drag = ""

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._state.zoom(1.2 ** (-event.angleDelta().y() / 120), (self._state.begin + self._state.end) / 2)
        event.accept()
