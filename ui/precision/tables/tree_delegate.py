"""Paints a row of the module tree: indented by its depth, with an arrow, a mark and a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from ui.precision.tables.tree_model import (
    DEPTH,
    STATE,
    TARGET,
    VERDICT,
    WORST,
)
from ui.precision.verdict_mark import SIZE, paint_mark
from ui.widgets import theme

if TYPE_CHECKING:
    from ui.precision.tables.tree_model import Index

HEIGHT = 26
STEP = 16
MARGIN = 8
ARROW = 14
MAX_STEPS = 12


class TreeDelegate(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(80, HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        _paint_ground(painter, option)
        rect = option.rect.adjusted(MARGIN, 0, -MARGIN, 0)
        if index.column() == TARGET:
            rect = _paint_branch(painter, rect, index)
        elif index.column() == VERDICT and index.data():
            rect.setLeft(rect.left() + 2)
        painter.setFont(index.data(Qt.ItemDataRole.FontRole) or option.font)
        painter.setPen(index.data(Qt.ItemDataRole.ForegroundRole))
        text = painter.fontMetrics().elidedText(index.data() or "", Qt.TextElideMode.ElideMiddle, rect.width())
        alignment = index.data(Qt.ItemDataRole.TextAlignmentRole) or Qt.AlignmentFlag.AlignLeft
        painter.drawText(rect, alignment | Qt.AlignmentFlag.AlignVCenter, text)
        painter.restore()


def arrow_rect(cell: QRect, depth: int) -> QRect:
    """Return where a click opens and closes a row."""
    return QRect(cell.left() + MARGIN + STEP * min(depth, MAX_STEPS), cell.top(), ARROW, cell.height())


def _paint_ground(painter: QPainter, option: QStyleOptionViewItem) -> None:
    if option.state & QStyle.StateFlag.State_Selected:
        painter.fillRect(option.rect, theme.color("selected"))
    elif option.state & QStyle.StateFlag.State_MouseOver:
        painter.fillRect(option.rect, theme.color("page"))


def _paint_branch(painter: QPainter, rect: QRect, index: Index) -> QRect:
    """Paint indentation, arrow and mark; return what is left for the name."""
    left = rect.left() + STEP * min(index.data(DEPTH), MAX_STEPS)
    middle = rect.center().y() + 0.5
    state = index.data(STATE)
    if state != "leaf":
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("dim"), 1.5, c=Qt.PenCapStyle.RoundCap))
        painter.drawPolyline(_arrow(left + ARROW / 2 - 1, middle, is_open=state == "open"))
    paint_mark(painter, QRectF(left + ARROW + 2, middle - SIZE / 2 + 1, SIZE - 2, SIZE - 2), index.data(WORST))
    return rect.adjusted(left - rect.left() + ARROW + SIZE + 8, 0, 0, 0)


def _arrow(x: float, y: float, *, is_open: bool) -> QPolygonF:
    ends = ((-4, -2), (0, 2), (4, -2)) if is_open else ((-2, -4), (2, 0), (-2, 4))
    return QPolygonF([QPointF(x + dx, y + dy) for dx, dy in ends])
