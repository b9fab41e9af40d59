"""One run in two lines: what it is and its state; when, how long, and its last loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from studio.run import outcome_of
from studio.sentences import loss_text
from ui.curves.run_model import RunModel, facts_of
from ui.services.run_titles import state_name, title_of, tone_of
from ui.widgets import theme

if TYPE_CHECKING:
    from PySide6.QtCore import QAbstractItemModel

    from studio.run import Glance, Run
    from ui.curves.run_model import Index
    from ui.widgets.basic import Tone

HEIGHT = 54
BOX = 14
LEFT = 34
TOKENS: dict[Tone, str] = {"good": "good", "warning": "warning", "bad": "bad", "accent": "accent", "neutral": "dim"}
SHAPES = {
    "done": ((0.1, 0.55), (0.4, 0.85), (0.9, 0.2)),
    "failed": ((0.15, 0.15), (0.85, 0.85), (0.5, 0.5), (0.85, 0.15), (0.15, 0.85)),
    "lost": ((0.5, 0.05), (0.95, 0.5), (0.5, 0.95), (0.05, 0.5), (0.5, 0.05)),
}
"""Lines of a shape for each state, in a box of 1 by 1."""
MOUSE = (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonRelease, QEvent.Type.MouseButtonDblClick)


class RunDelegate(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        run, glance = index.data(Qt.ItemDataRole.UserRole)
        model = index.model()
        painter.save()
        is_chosen = isinstance(model, RunModel) and model.chosen == run.name
        if is_chosen:
            painter.fillRect(option.rect, theme.color("selected"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, theme.color("page"))
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(theme.color("accent"), 2))
            painter.drawRect(option.rect.adjusted(1, 1, -1, -1))
        color = model.colors.get(run.name) if isinstance(model, RunModel) else None
        self._paint_tick(painter, tick_box(option.rect), color)
        self._paint_texts(painter, option.rect, option.font, run, glance)
        painter.restore()

    def _paint_tick(self, painter: QPainter, box: QRect, color: int | None) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("edge") if color is None else theme.series_color(color), 1))
        painter.setBrush(theme.color("surface") if color is None else theme.series_color(color))
        painter.drawRoundedRect(QRectF(box), 3, 3)
        if color is not None:
            tick = QRectF(box).adjusted(3, 3, -3, -3)
            painter.setPen(QPen(theme.color("surface"), 2))
            places = ((0.0, 0.55), (0.38, 0.95), (1.0, 0.05))
            corner = tick.topLeft()
            painter.drawPolyline([corner + QPointF(x * tick.width(), y * tick.height()) for x, y in places])

    def _paint_texts(self, painter: QPainter, rect: QRect, base: QFont, run: Run, glance: Glance) -> None:
        outcome, tone = outcome_of(glance), tone_of(glance)
        upper = rect.adjusted(LEFT, 8, -10, -HEIGHT // 2)
        lower = rect.adjusted(LEFT, HEIGHT // 2 + 1, -10, -7)
        small = QFont(base)
        small.setPixelSize(12)
        painter.setFont(small)
        painter.setPen(theme.color(TOKENS[tone]))
        state = state_name(glance)
        width = painter.fontMetrics().horizontalAdvance(state)
        painter.drawText(upper, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, state)
        shape = QRectF(upper.right() - width - 15, upper.center().y() - 3.5, 9, 9)
        paint_state(painter, shape, outcome, tone)
        painter.setPen(theme.color("dim"))
        loss = loss_text(glance)
        painter.drawText(lower, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, loss)
        used = painter.fontMetrics().horizontalAdvance(loss)
        _elided(painter, lower.adjusted(0, 0, -used - 8, 0), facts_of(run, glance))
        painter.setFont(base)
        painter.setPen(theme.color("text"))
        _elided(painter, upper.adjusted(0, 0, -width - 24, 0), title_of(run))

    def editorEvent(self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index) -> bool:
        """A click on the box ticks; elsewhere it chooses the run, which the view does."""
        if event.type() in MOUSE:
            inside = tick_box(option.rect).adjusted(-8, -12, 6, 12).contains(event.position().toPoint())  # type: ignore[attr-defined]
            if inside and event.type() == QEvent.Type.MouseButtonRelease:
                _toggle(model, index)
            return inside
        if event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Space:  # type: ignore[attr-defined]
            _toggle(model, index)
            return True
        return False


def tick_box(rect: QRect) -> QRect:
    return QRect(rect.left() + 11, rect.center().y() - BOX // 2, BOX, BOX)


def _toggle(model: QAbstractItemModel, index: Index) -> None:
    is_on = index.data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Checked
    state = Qt.CheckState.Unchecked if is_on else Qt.CheckState.Checked
    model.setData(index, state, Qt.ItemDataRole.CheckStateRole)


def _elided(painter: QPainter, rect: QRect, text: str) -> None:
    fits = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
    painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, fits)


def paint_state(painter: QPainter, box: QRectF, outcome: str, tone: Tone) -> None:
    """Each state has a shape, so that colour is never alone: running a triangle, done a tick, failed a cross, stopped
    a square, lost a diamond, others a ring, with a bar where the answer is no, and a stroke through it where losses
    were no numbers."""
    color = theme.color(TOKENS[tone])
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(color, 1.6))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if outcome in SHAPES:
        points = [QPointF(box.x() + x * box.width(), box.y() + y * box.height()) for x, y in SHAPES[outcome]]
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
        if outcome == "nonfinite":
            painter.drawLine(ring.topLeft(), ring.bottomRight())
        if outcome in ("no", "incomplete"):
            painter.drawLine(QPointF(ring.left() + 2, middle), QPointF(ring.right() - 2, middle))
    painter.restore()
