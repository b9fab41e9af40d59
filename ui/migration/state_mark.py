"""A state as a small shape, so that it does not depend on colour alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPen, QPixmap, QPolygonF

from ui.migration.finding_texts import STATE_COLORS
from ui.widgets import theme

if TYPE_CHECKING:
    from backends.migration.finding import FindingState

MARK_SIZE = 14


def paint_mark(painter: QPainter, box: QRectF, state: FindingState) -> None:
    """Paint a tick in a disc, a pencil stroke in a square, a triangle, a cross in a disc, or a question mark in a
    ring."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    color, ground = theme.color(STATE_COLORS[state]), theme.color("surface")
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    if state == "edit":
        painter.drawRoundedRect(box, 3, 3)
    elif state == "manual":
        painter.drawPolygon(QPolygonF([_point_in(box, 0.5, 0.02), _point_in(box, 1, 0.96), _point_in(box, 0, 0.96)]))
    elif state == "unverified":
        painter.setPen(QPen(color, 1.5))
        painter.setBrush(ground)
        painter.drawEllipse(box.adjusted(0.75, 0.75, -0.75, -0.75))
    else:
        painter.drawEllipse(box)
    painter.setPen(QPen(color if state == "unverified" else ground, 1.6, c=Qt.PenCapStyle.RoundCap))
    for stroke in STROKES[state]:
        painter.drawPolyline([_point_in(box, x, y) for x, y in stroke])
    painter.restore()


STROKES: dict[FindingState, tuple[tuple[tuple[float, float], ...], ...]] = {
    "auto": (((0.27, 0.53), (0.44, 0.7), (0.74, 0.34)),),
    "edit": (((0.28, 0.72), (0.7, 0.3)), ((0.55, 0.72), (0.72, 0.72))),
    "manual": (((0.5, 0.4), (0.5, 0.62)), ((0.5, 0.79), (0.5, 0.8))),
    "none": (((0.33, 0.33), (0.67, 0.67)), ((0.67, 0.33), (0.33, 0.67))),
    "unverified": (((0.37, 0.4), (0.42, 0.3), (0.58, 0.3), (0.63, 0.42), (0.5, 0.56)), ((0.5, 0.72), (0.5, 0.73))),
}


def _point_in(box: QRectF, x: float, y: float) -> QPointF:
    return QPointF(box.left() + x * box.width(), box.top() + y * box.height())


def mark_icon(state: FindingState) -> QIcon:
    """Return an icon in the colours of the current theme; callers draw it again when these change."""
    picture = QPixmap(MARK_SIZE * 2, MARK_SIZE * 2)
    picture.setDevicePixelRatio(2)
    picture.fill(Qt.GlobalColor.transparent)
    with QPainter(picture) as painter:
        paint_mark(painter, QRectF(0.5, 0.5, MARK_SIZE - 1, MARK_SIZE - 1), state)
    return QIcon(picture)
