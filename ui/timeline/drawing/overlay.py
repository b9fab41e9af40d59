"""What lies over the picture and changes while it stays: selection, marks, the slice under the pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from ui.timeline.drawing.time_text import length_text
from ui.widgets import theme

if TYPE_CHECKING:
    from ui.timeline.state.view_state import ViewState

NARROWEST = 3.0


def clip_to_moving(painter: QPainter, state: ViewState, width: int, height: int) -> None:
    """Clip drawing to below the pinned lanes, which lie over the others."""
    fixed = state.lanes.bands.pinned_height
    if fixed:
        painter.setClipRect(QRectF(0, fixed, width, max(0, height - fixed)), Qt.ClipOperation.IntersectClip)


class Overlay:
    """Draws for one state into a canvas of a given size."""

    def __init__(self, painter: QPainter, state: ViewState, width: int, height: int) -> None:
        self._painter, self._state = painter, state
        self._width, self._height = width, height

    def x(self, time: float) -> float:
        return (time - self._state.viewport.begin) / self._state.viewport.span * self._width

    def box(self, index: int) -> QRectF | None:
        """Return where a slice is drawn; None where its row is hidden or covered by the pinned ones."""
        state = self._state
        assert state.trace is not None
        band_number = state.lanes.bands.of_row(state.trace.row_of(index))
        if band_number < 0:
            return None
        band = state.lanes.bands[band_number]
        top = band.top if band.is_pinned else band.top - state.viewport.scroll
        begin, end = state.times_of(index)
        left, right = self.x(begin), self.x(end)
        right = max(right, left + NARROWEST)
        if (
            right < 0
            or left > self._width
            or (not band.is_pinned and top < state.lanes.bands.pinned_height - band.drawn)
        ):
            return None
        left, right = max(left, -10.0), min(right, self._width + 10.0)
        return QRectF(left, top, right - left, band.drawn)

    def outline(self, index: int, token: str, width: int, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> None:
        if index < 0 or (box := self.box(index)) is None:
            return
        half, painter = width / 2, self._painter
        painter.save()
        if not self._is_pinned(index):
            clip_to_moving(painter, self._state, self._width, self._height)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if width > 1:
            painter.setPen(QPen(theme.color("surface"), 1))
            painter.drawRect(box.adjusted(width, width, -width - 1, -width - 1))
        painter.setPen(QPen(theme.color(token), width, style))
        painter.drawRect(box.adjusted(half - 0.5, half - 0.5, -half - 0.5, -half - 0.5))
        painter.restore()

    def _is_pinned(self, index: int) -> bool:
        state = self._state
        assert state.trace is not None
        return state.lanes.bands.of_row(state.trace.row_of(index)) < state.lanes.bands.pinned

    def chosen_range(self, begin: float, end: float, top: float, *, is_zoom: bool = False) -> None:
        left, right = self.x(begin), self.x(end)
        shade = theme.color("text" if is_zoom else "accent")
        shade.setAlphaF(0.10)
        painter = self._painter
        painter.fillRect(QRectF(left, 0, right - left, self._height), shade)
        for x in (left, right):
            painter.fillRect(QRectF(round(x), 0, 1, self._height), theme.color("text" if is_zoom else "accent"))
        self._length(left, right, top, length_text(end - begin))

    def _length(self, left: float, right: float, top: float, text: str) -> None:
        """Draw the length in the middle of the visible part, or next to it where that is too narrow."""
        painter = self._painter
        wide = painter.fontMetrics().horizontalAdvance(text) + 14
        left, right = max(left, 0.0), min(right, float(self._width))
        if right <= 0 or left >= self._width:
            return
        at = (left + right - wide) / 2 if right - left >= wide + 8 else right + 6
        at = min(max(at, 2.0), self._width - wide - 2)
        self._pill(QRectF(at, top + 6, wide, 20), text, theme.color("accent"), theme.color("on_accent"))

    def _pill(self, box: QRectF, text: str, fill: QColor, ink: QColor) -> None:
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(fill)
        self._painter.drawRoundedRect(box, 4, 4)
        self._painter.setPen(ink)
        self._painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def marks(self) -> None:
        for mark in self._state.marks:
            color = theme.series_color(mark.color)
            left, right = map(self.x, self._state.times_of_mark(mark))
            if right < 0 or left > self._width:
                continue
            if right - left > 1:
                soft = QColor(color)
                soft.setAlphaF(0.08)
                self._painter.fillRect(QRectF(left, 0, right - left, self._height), soft)
            self._painter.setPen(QPen(color, 1, Qt.PenStyle.DashLine))
            for x in {left, right}:
                self._painter.drawLine(QLineF(x, 0, x, self._height))
