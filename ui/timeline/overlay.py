"""What lies over the picture and changes while it stays: selection, flows, marks, the slice under the pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from backends.timeline.query.arrows import arrows_of, visible_arrows
from ui import theme
from ui.timeline.colors import mixed
from ui.timeline.times import length_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ui.timeline.state import ViewState

MOST_ARROWS = 160
HEAD = 5
NARROWEST = 3.0

_T = np.linspace(0, 1, 17)[:, None]
# Of a curve of Bezier, as a line through 17 places: Qt takes many times as long for the curve itself.
SHARES = np.concatenate(((1 - _T) ** 3, 3 * (1 - _T) ** 2 * _T, 3 * (1 - _T) * _T**2, _T**3), axis=1)

Flow = tuple[int, int, int, int]  # from row, from time, to row, to time


def flows_of(state: ViewState, index: int) -> list[Flow]:
    """Those of a slice, both ways; ends in rows that no slice is in are left out."""
    if state.trace is None or index < 0:
        return []
    found: list[Flow] = []
    for one in arrows_of(state.trace, index)[:MOST_ARROWS]:
        if one.other >= 0:
            here = (state.trace.row_of(one.this), one.this_time)
            there = (state.trace.row_of(one.other), one.other_time)
            found.append((*there, *here) if one.incoming else (*here, *there))
    return found


def flows_in_view(state: ViewState) -> list[Flow]:
    """Of the kinds that are switched on, as many as can be told apart."""
    trace = state.trace
    if trace is None or not state.flow_kinds:
        return []
    lanes = sorted({int(one) for one in state.bands.track[state.bands.kind == 1]})
    found = visible_arrows(trace, int(state.begin), int(state.end), lanes, MOST_ARROWS, sorted(state.flow_kinds))
    pairs = zip(found.begins_at.tolist(), found.leads_to.tolist(), found.ends.tolist(), strict=True)
    return [
        (trace.row_of(one), ends[1], trace.row_of(other), ends[3])
        for one, other, ends in pairs
        if one >= 0 and other >= 0
    ]


class Overlay:
    """Draws for one state in a canvas of a width."""

    def __init__(self, painter: QPainter, state: ViewState, width: int, height: int) -> None:
        self._painter, self._state = painter, state
        self._width, self._height = width, height

    def x(self, time: float) -> float:
        return (time - self._state.begin) / self._state.span * self._width

    def box(self, index: int) -> QRectF | None:
        """Where a slice is drawn; None where its row is not shown or covered by the pinned ones."""
        state = self._state
        assert state.trace is not None
        band_number = state.bands.of_row(state.trace.row_of(index))
        if band_number < 0:
            return None
        band = state.bands[band_number]
        top = band.top if band.is_pinned else band.top - state.scroll
        begin, end = state.times_of(index)
        left, right = self.x(begin), self.x(end)
        right = max(right, left + NARROWEST)
        if right < 0 or left > self._width or (not band.is_pinned and top < state.bands.pinned_height - band.drawn):
            return None
        left, right = max(left, -10.0), min(right, self._width + 10.0)
        return QRectF(left, top, right - left, band.drawn)

    def outline(self, index: int, token: str, width: int, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> None:
        if index < 0 or (box := self.box(index)) is None:
            return
        half = width / 2
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        if width > 1:
            self._painter.setPen(QPen(theme.color("surface"), 1))
            self._painter.drawRect(box.adjusted(width, width, -width - 1, -width - 1))
        self._painter.setPen(QPen(theme.color(token), width, style))
        self._painter.drawRect(box.adjusted(half - 0.5, half - 0.5, -half - 0.5, -half - 0.5))

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
        """In the middle of what is visible of it, or beside it where it is too narrow."""
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

    def flows(self, flows: Iterable[Flow], token: str, share: float) -> None:
        color = mixed(theme.color(token), theme.color("surface"), share)  # a see-through pen is ten times as slow
        for flow in flows:
            self._flow(flow, color)

    def _end(self, row: int, time: int) -> QPointF | None:
        state = self._state
        assert state.trace is not None
        number = state.bands.of_row(row)
        if number < 0:
            return None
        band = state.bands[number]
        top = band.top if band.is_pinned else band.top - state.scroll
        x = self.x(time + band.offset_ns)
        return QPointF(min(max(x, -1e5), 1e5), top + band.drawn / 2)

    def _flow(self, flow: Flow, color: QColor) -> None:
        begin, end = self._end(flow[0], flow[1]), self._end(flow[2], flow[3])
        if begin is None or end is None or max(begin.x(), end.x()) < 0 or min(begin.x(), end.x()) > self._width:
            return
        bend = max(24.0, abs(end.x() - begin.x()) / 3)
        x = SHARES @ (begin.x(), begin.x() + bend, end.x() - HEAD - bend, end.x() - HEAD)
        y = SHARES @ (begin.y(), begin.y(), end.y(), end.y())
        self._painter.setPen(color)
        self._painter.drawPolyline([QPointF(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)])
        self._painter.setBrush(color)
        self._painter.drawPolygon(
            QPolygonF([end, end + QPointF(-HEAD - 2, -HEAD + 1), end + QPointF(-HEAD - 2, HEAD - 1)])
        )
        self._painter.fillRect(QRectF(begin.x() - 1, begin.y() - 1, 3, 3), color)
