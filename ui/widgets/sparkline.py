"""A small curve without axes: the shape of the last values, a mark where one is not a number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from ui.widgets import theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPaintEvent

EDGE = 3


def places(values: Sequence[float], width: float, height: float) -> list[QPointF | None]:
    """Where the values lie, the highest at the top; None where a value is not a number."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    across = (width - 2 * EDGE) / max(1, len(values) - 1)
    up = (height - 2 * EDGE) / (high - low) if high > low else 0.0
    rest = 0.0 if high > low else (height - 2 * EDGE) / 2
    return [
        QPointF(EDGE + index * across, height - EDGE - rest - (value - low) * up) if math.isfinite(value) else None
        for index, value in enumerate(values)
    ]


class Sparkline(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._values: Sequence[float] = ()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        theme.notifier().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(96, 28)

    def show_values(self, values: Sequence[float]) -> None:
        if list(values) != list(self._values):
            self._values = values
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        points = places(self._values, self.width(), self.height())
        if not any(points):
            painter.setPen(QPen(theme.color("line"), 1))
            middle = self.height() // 2
            painter.drawLine(EDGE, middle, self.width() - EDGE, middle)
            return
        painter.setPen(QPen(theme.series_color(0), 1))
        for piece in _pieces(points):
            painter.drawPolyline(QPolygonF(piece))
        if points[-1]:
            painter.setBrush(theme.series_color(0))
            painter.drawEllipse(points[-1], 1.5, 1.5)
        self._mark_gaps(painter, points)

    def _mark_gaps(self, painter: QPainter, points: list[QPointF | None]) -> None:
        painter.setPen(QPen(theme.color("bad"), 1))
        across = (self.width() - 2 * EDGE) / max(1, len(points) - 1)
        for index, point in enumerate(points):
            if point is None:
                x = EDGE + index * across
                painter.drawLine(QPointF(x, EDGE), QPointF(x, self.height() - EDGE))


def _pieces(points: list[QPointF | None]) -> list[list[QPointF]]:
    """The points between the gaps."""
    pieces: list[list[QPointF]] = [[]]
    for point in points:
        if point is None:
            pieces.append([])
        else:
            pieces[-1].append(point)
    return [piece for piece in pieces if len(piece) > 1]
