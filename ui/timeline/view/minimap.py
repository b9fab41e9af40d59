"""The whole trace in a strip: activity of each kind of lane, the visible range, hits and marks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QImage, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from backends.timeline.kinds import FAMILIES
from studio.texts import t
from ui.services.background import run_in_background
from ui.timeline.drawing import colors
from ui.timeline.drawing.frame import (
    LEVELS,
    draw_pixel_rows,
    edges_of,
    shade_begins,
    slice_columns,
)
from ui.widgets import theme
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PySide6.QtGui import QMouseEvent, QPaintEvent, QWheelEvent

    from backends.timeline.kinds import LaneKind
    from backends.timeline.trace import Trace
    from ui.timeline.state.view_state import ViewState

MAP_HEIGHT, TOP, BOTTOM = 46, 4, 4
MAP_COLUMNS = 1000
MAX_ROWS = 240  # of a kind: the fullest
MAX_HITS = 200_000
EDGE = 5  # px at the sides of the window that can be drawn
KINDS: dict[LaneKind, str] = {
    "host": "timeline.view.strip_host", "api": "timeline.view.strip_api", "device": "timeline.view.strip_device",
    "communication": "timeline.view.strip_communication", "other": "timeline.view.strip_other",
}  # fmt: skip
LEVEL, IDLE = 16, FAMILIES.index("free")
BUSY_BIT = 1 << 11  # whatever is not waiting comes before what is


@dataclass(frozen=True, kw_only=True)
class Strip:
    """Activity of one kind of lane in each of MAP_COLUMNS: how busy its busiest row is, 0 to LEVELS, and the family of
    what it does, an index of FAMILIES. A row that only waits counts where no other row is busy."""

    kind: LaneKind
    level: NDArray[np.uint32]
    family: NDArray[np.uint32]


def strips_of(trace: Trace) -> list[Strip]:
    """Return a strip for each kind of lane in the trace."""
    columns, edges = slice_columns(trace), edges_of(0.0, float(trace.span), MAP_COLUMNS)
    shades, codes = shade_begins(np.asarray(trace.name_family)), _family_codes()
    kinds = np.array([lane.kind for lane in trace.meta.lanes], object)[np.asarray(trace.row_lane)]
    filled = np.asarray(trace.cover)[np.asarray(trace.row_begin)]
    strips: list[Strip] = []
    for kind in KINDS:
        rows = np.flatnonzero(kinds == kind)
        rows = rows[np.argsort(-np.diff(filled)[rows], kind="stable")[:MAX_ROWS]].astype(np.int64)
        if len(rows):
            busiest = draw_pixel_rows(columns, rows, np.zeros(len(rows), np.int64), edges, shades, codes).max(axis=0)
            strips.append(Strip(kind=kind, level=busiest % BUSY_BIT // LEVEL, family=busiest % LEVEL))
    return strips


def _family_codes() -> NDArray[np.uint32]:
    """Return codes to use in place of colours in `draw_pixel_rows`: a number for each family and level; the greatest
    one is shown."""
    family, level = np.arange(len(FAMILIES), dtype=np.uint32)[:, None], np.arange(LEVELS + 1, dtype=np.uint32)
    codes: NDArray[np.uint32] = (family != IDLE) * np.uint32(BUSY_BIT) + level * np.uint32(LEVEL) + family
    codes[:, 0] = 0
    return codes


class Minimap(QWidget):
    """Dragging the window moves the view, dragging its sides resizes it; dragging elsewhere selects a new range to
    show."""

    def __init__(self, state: ViewState) -> None:
        super().__init__()
        self.setObjectName("timeline_minimap")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(MAP_HEIGHT)
        self.setMouseTracking(True)
        localize(self.setAccessibleName, "timeline.view.minimap")
        self._state = state
        self._strips: list[Strip] = []
        self._image: QImage | None = None
        self._hits: NDArray[np.int64] = np.empty(0, np.int64)
        self._drag = ""
        self._pressed = 0.0
        self._pressed_range = (0.0, 0.0)
        state.trace_changed.connect(self._load_strips)
        state.hits.changed.connect(self._find_hits)
        for signal in (state.viewport.range_changed, state.marks_changed):
            signal.connect(self.update)
        state.selection.range_chosen.connect(self.update)
        theme.notifier().changed.connect(self._draw_again)

    def _load_strips(self) -> None:
        trace = self._state.trace
        self._strips, self._image = [], None
        self.retranslate()
        self.update()
        if trace is not None:
            run_in_background(self, lambda: strips_of(trace), lambda strips: self._show(trace, strips))

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
        """Find the pixel columns that contain hits; of very many hits only a sample is checked."""
        trace, hits = self._state.trace, self._state.hits.slices
        if trace is None or not len(hits):
            self._hits = np.empty(0, np.int64)
        else:
            start = trace.start[hits[:: max(1, len(hits) // MAX_HITS)]]
            self._hits = np.unique((start.astype(np.float64) / trace.span * MAP_COLUMNS).astype(np.int64))
        self.update()

    def x_of(self, time: float) -> float:
        low, high = self._state.viewport.whole
        return (time - low) / (high - low) * self.width()

    def _time_at(self, x: float) -> float:
        low, high = self._state.viewport.whole
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
            painter.drawImage(QRectF(left, TOP, right - left, MAP_HEIGHT - TOP - BOTTOM), self._image)
        self._draw_hits(painter, left, (right - left) / MAP_COLUMNS)
        for mark in self._state.marks:
            painter.fillRect(
                QRectF(self.x_of(self._state.times_of_mark(mark)[0]), 0, 2, MAP_HEIGHT), theme.series_color(mark.color)
            )
        chosen = self._state.selection.range
        if chosen is not None:
            width = max(1.0, self.x_of(chosen.end) - self.x_of(chosen.begin))
            painter.fillRect(QRectF(self.x_of(chosen.begin), MAP_HEIGHT - 4, width, 3), theme.color("accent"))
        self._draw_window(painter)

    def _make(self) -> QImage:
        """Paint the strips from top to bottom, each with a line of background below."""
        height = MAP_HEIGHT - TOP - BOTTOM
        surface = theme.color("surface")
        pixels = np.full((height, MAP_COLUMNS), surface.rgb(), np.uint32)
        each, table = height / len(self._strips), colors.table(theme.current())
        for number, strip in enumerate(self._strips):
            first, behind = round(number * each), round((number + 1) * each) - 1
            busy = table[strip.family * colors.SHADES, strip.level]
            pixels[first : max(first + 1, behind)] = np.where(strip.level, busy, np.uint32(surface.rgb()))
        return QImage(pixels.data, MAP_COLUMNS, height, MAP_COLUMNS * 4, QImage.Format.Format_RGB32).copy()

    def _draw_hits(self, painter: QPainter, left: float, each: float) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("bad"))
        for column in self._hits.tolist():
            painter.drawRect(QRectF(left + column * each, 0, max(2.0, each), 5))

    def _draw_window(self, painter: QPainter) -> None:
        box = self._window()
        veil = theme.color("page")
        veil.setAlphaF(0.62)
        painter.fillRect(QRectF(0, 0, box.left(), MAP_HEIGHT), veil)
        painter.fillRect(QRectF(box.right(), 0, self.width() - box.right(), MAP_HEIGHT), veil)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.color("accent"), 1))
        painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))

    def _window(self) -> QRectF:
        left, right = self.x_of(self._state.viewport.begin), self.x_of(self._state.viewport.end)
        if right - left < 4:
            left, right = (left + right) / 2 - 2, (left + right) / 2 + 2
        return QRectF(QRect(round(left), 0, max(4, round(right - left)), MAP_HEIGHT))

    def _part_at(self, position: QPointF) -> str:
        box = self._window()
        if abs(position.x() - box.left()) <= EDGE and not self._state.viewport.is_whole:
            return "left"
        if abs(position.x() - box.right()) <= EDGE and not self._state.viewport.is_whole:
            return "right"
        return "move" if box.contains(position) and not self._state.viewport.is_whole else "draw"

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._drag = self._part_at(event.position())
            self._pressed = event.position().x()
            self._pressed_range = (self._state.viewport.begin, self._state.viewport.end)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not self._drag:
            aside = self._part_at(event.position()) in ("left", "right")
            self.setCursor(Qt.CursorShape.SizeHorCursor if aside else Qt.CursorShape.ArrowCursor)
            return
        begin, end = self._pressed_range
        x, state = event.position().x(), self._state
        if self._drag == "move":
            by = self._time_at(x) - self._time_at(self._pressed)
            state.viewport.show(begin + by, end + by, is_move=True)
        elif self._drag == "left":
            state.viewport.show(min(self._time_at(x), end - 1), end, is_move=True)
        elif self._drag == "right":
            state.viewport.show(begin, max(self._time_at(x), begin + 1), is_move=True)
        elif abs(x - self._pressed) >= 4:
            state.viewport.show(*sorted((self._time_at(self._pressed), self._time_at(x))), is_move=True)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        state, x = self._state, event.position().x()
        if self._drag == "draw" and abs(x - self._pressed) < 4 and not state.viewport.is_whole:
            middle = self._time_at(x)
            state.viewport.show(middle - state.viewport.span / 2, middle + state.viewport.span / 2)
        self._drag = ""

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._state.viewport.zoom(
            1.2 ** (-event.angleDelta().y() / 120), (self._state.viewport.begin + self._state.viewport.end) / 2
        )
        event.accept()
