"""A shape for each state of a run, so that colour is never alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF

from ui import theme

if TYPE_CHECKING:
    from ui.widgets import Tone

TOKENS: dict[Tone, str] = {"good": "good", "warning": "warning", "bad": "bad", "accent": "accent", "neutral": "dim"}
_LINES = {
    "done": ((0.1, 0.55), (0.4, 0.85), (0.9, 0.2)),
    "failed": ((0.15, 0.15), (0.85, 0.85), (0.5, 0.5), (0.85, 0.15), (0.15, 0.85)),
    "lost": ((0.5, 0.05), (0.95, 0.5), (0.5, 0.95), (0.05, 0.5), (0.5, 0.05)),
}


def paint_state(painter: QPainter, box: QRectF, outcome: str, tone: Tone) -> None:
    """Running a triangle, done a tick, failed a cross, stopped a square, lost a diamond, others a ring, with a bar
    where the answer is no."""
    color = theme.color(TOKENS[tone])
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(color, 1.6))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if outcome in _LINES:
        points = [QPointF(box.x() + x * box.width(), box.y() + y * box.height()) for x, y in _LINES[outcome]]
        painter.drawPolyline(QPolygonF(points))
    elif outcome == "running":
        painter.setBrush(color)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawPolygon(QPolygonF([box.topLeft(), QPointF(box.right(), box.center().y()), box.bottomLeft()]))
    elif outcome == "stopped":
        painter.fillRect(box.adjusted(0.5, 0.5, -0.5, -0.5), color)
    else:
        ring, middle = box.adjusted(1, 1, -1, -1), box.center().y()
        painter.drawEllipse(ring)
        if outcome == "no":
            painter.drawLine(QPointF(ring.left() + 2, middle), QPointF(ring.right() - 2, middle))
    painter.restore()
