"""What lies over the picture and changes while it stays: selection, flows, marks, the slice under the pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF

from backends.timeline.query.arrows import arrows_of, visible_arrows
from ui import theme
from ui.timeline.times import length_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ui.timeline.state import ViewState

MOST_ARROWS = 300
HEAD = 5
NARROWEST = 3.0

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
        painter.setPen(QPen(theme.color("text" if is_zoom else "accent"), 1))
        for x in (left, right):
            painter.drawLine(QLineF(x, 0, x, self._height))
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
            left, right = self.x(mark.begin), self.x(mark.end)
            if right < 0 or left > self._width:
                continue
            if right - left > 1:
                soft = QColor(color)
                soft.setAlphaF(0.08)
                self._painter.fillRect(QRectF(left, 0, right - left, self._height), soft)
            self._painter.setPen(QPen(color, 1, Qt.PenStyle.DashLine))
            for x in {left, right}:
                self._painter.drawLine(QLineF(x, 0, x, self._height))

    def steps(self) -> None:
        """A line where each step begins."""
        steps = self._state.trace.meta.steps if self._state.trace else ()
        inside = [one for one in steps if self._state.begin < one.start < self._state.end]
        if len(inside) > 80:
            return
        color = theme.color("edge")
        color.setAlphaF(0.5)
        self._painter.setPen(QPen(color, 1))
        for one in inside:
            x = int(self.x(one.start))
            self._painter.drawLine(QLineF(x, 0, x, self._height))

    def flows(self, flows: Iterable[Flow], token: str, share: float) -> None:
        color = theme.color(token)
        color.setAlphaF(share)
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
        path = QPainterPath(begin)
        path.cubicTo(QPointF(begin.x() + bend, begin.y()), QPointF(end.x() - bend, end.y()), end - QPointF(HEAD, 0))
        self._painter.setPen(QPen(color, 1))
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        self._painter.drawPath(path)
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(color)
        self._painter.drawPolygon(
            QPolygonF([end, end + QPointF(-HEAD - 2, -HEAD + 1), end + QPointF(-HEAD - 2, HEAD - 1)])
        )
        self._painter.drawEllipse(begin, 2, 2)
