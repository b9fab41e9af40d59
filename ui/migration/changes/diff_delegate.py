"""Paints a row of a diff: a file's head, a hunk's head with its check box, or a line with its sign."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from ui.migration.changes.diff_model import LINE_SIGNS, DiffModel, lines_text
from ui.migration.row_painting import draw_elided
from ui.migration.state_mark import paint_mark
from ui.widgets import theme

if TYPE_CHECKING:
    from PySide6.QtCore import QAbstractItemModel

    from backends.migration.migrate.changes import Hunk
    from ui.migration.changes.diff_rows import DiffRow
    from ui.migration.changes.plan import PlanDecisions
    from ui.migration.findings.finding_model import Index

HEIGHT = 22
NUMBER, NUMBERS = 40, 88
BOX = 14
LEFT = 12
VERTICAL = Qt.AlignmentFlag.AlignVCenter
BACKGROUNDS = {"removed": "bad_soft", "added": "good_soft"}
SIGN_COLORS = {"removed": "bad", "added": "good", "same": "dim"}


class DiffDelegate(QStyledItemDelegate):
    """`toggled`: the id of a hunk whose check box was clicked."""

    toggled = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.max_line_length = 0
        """Characters of the longest line, which the view has to be scrolled to."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        wide = QFontMetricsF(theme.mono_font(12)).horizontalAdvance("0") * self.max_line_length
        return QSize(round(wide) + NUMBERS + 24, HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row, model = index.data(Qt.ItemDataRole.UserRole), index.model()
        assert isinstance(model, DiffModel)
        painter.save()
        painter.setFont(option.font)
        rect = visible_rect(option)
        if row.kind == "file":
            self._paint_file(painter, rect, row)
        elif row.kind == "hunk" and row.hunk is not None:
            is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
            painter.fillRect(rect, theme.color("selected" if is_chosen else "sunken"))
            self._paint_head(painter, rect, row.hunk, model)
        else:
            self._paint_line(painter, option.rect, row, model.decisions)
        painter.restore()

    def _paint_file(self, painter: QPainter, rect: QRect, row: DiffRow) -> None:
        painter.fillRect(rect, theme.color("surface"))
        painter.setPen(theme.color("text"))
        bold = QFont(painter.font())
        bold.setWeight(QFont.Weight.DemiBold)
        painter.setFont(bold)
        draw_elided(painter, rect.adjusted(LEFT, 0, -10, 0), row.text, Qt.TextElideMode.ElideLeft)

    def _paint_head(self, painter: QPainter, rect: QRect, hunk: Hunk, model: DiffModel) -> None:
        if model.decisions.is_manual(hunk):
            paint_mark(painter, QRectF(tick_box(rect)), "manual")
        else:
            paint_tick(painter, QRectF(tick_box(rect)), model.decisions.is_accepted(hunk))
        small = QFont(painter.font())
        small.setPixelSize(12)
        painter.setFont(small)
        painter.setPen(theme.color("dim"))
        lines = lines_text(hunk.first, hunk.last)
        painter.drawText(rect.adjusted(LEFT, 0, -10, 0), Qt.AlignmentFlag.AlignRight | VERTICAL, lines)
        lines_width = painter.fontMetrics().horizontalAdvance(lines) + 12
        painter.setPen(theme.color("text"))
        draw_elided(painter, rect.adjusted(LEFT + BOX + 10, 0, -10 - lines_width, 0), model.title_of(hunk))

    def _paint_line(self, painter: QPainter, rect: QRect, row: DiffRow, decisions: PlanDecisions) -> None:
        is_in = row.hunk is None or decisions.is_accepted(row.hunk)
        if row.kind in BACKGROUNDS and is_in:
            painter.fillRect(rect, theme.color(BACKGROUNDS[row.kind]))
        painter.setFont(theme.mono_font(12))
        painter.setPen(theme.color("dim"))
        for column, number in enumerate((row.old, row.new)):
            box = QRect(rect.left() + column * NUMBER, rect.top(), NUMBER, rect.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | VERTICAL, str(number) if number else "")
        sign = QRect(rect.left() + NUMBERS, rect.top(), 14, rect.height())
        painter.setPen(theme.color(SIGN_COLORS[row.kind] if is_in else "dim"))
        painter.drawText(sign, Qt.AlignmentFlag.AlignLeft | VERTICAL, LINE_SIGNS[row.kind])
        text = row.text.replace("\t", "    ")
        inside = rect.adjusted(NUMBERS + 14, 0, 0, 0)
        painter.setPen(theme.color("text" if is_in or row.kind == "same" else "dim"))
        if row.kind in BACKGROUNDS and is_in:
            self._paint_span(painter, inside, row)
        painter.drawText(inside, Qt.AlignmentFlag.AlignLeft | VERTICAL | Qt.TextFlag.TextSingleLine, text)
        if row.kind == "added" and not is_in:
            width = QFontMetricsF(painter.font()).horizontalAdvance(text)
            middle = inside.top() + inside.height() / 2
            painter.drawLine(QPointF(inside.left(), middle), QPointF(inside.left() + width, middle))

    def _paint_span(self, painter: QPainter, inside: QRect, row: DiffRow) -> None:
        """Highlight the characters that differ."""
        begin, end = row.span
        if end <= begin:
            return
        metrics = QFontMetricsF(painter.font())
        left = metrics.horizontalAdvance(row.text[:begin].replace("\t", "    "))
        width = metrics.horizontalAdvance(row.text[begin:end].replace("\t", "    "))
        color = theme.color(SIGN_COLORS[row.kind])
        color.setAlpha(46)
        painter.fillRect(QRectF(inside.left() + left, inside.top() + 2, width, inside.height() - 4), color)

    def editorEvent(self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index) -> bool:
        """Toggle the hunk on a click on its check box, or on Space."""
        row = index.data(Qt.ItemDataRole.UserRole)
        if row is None or row.hunk is None:
            return False
        if event.type() == QEvent.Type.MouseButtonRelease and row.kind == "hunk":
            if tick_box(visible_rect(option)).adjusted(-10, -6, 6, 6).contains(event.position().toPoint()):  # type: ignore[attr-defined]
                self.toggled.emit(row.hunk.id)
                return True
        elif event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Space:  # type: ignore[attr-defined]
            self.toggled.emit(row.hunk.id)
            return True
        return False


def visible_rect(option: QStyleOptionViewItem) -> QRect:
    """Return the part of a row that is in sight, however far the view is scrolled sideways."""
    view = option.widget
    if not isinstance(view, QAbstractItemView):
        return QRect(option.rect)
    return QRect(0, option.rect.top(), view.viewport().width(), option.rect.height())


def tick_box(rect: QRect) -> QRect:
    return QRect(rect.left() + LEFT, rect.center().y() - BOX // 2, BOX, BOX)


def paint_tick(painter: QPainter, box: QRectF, is_on: bool) -> None:
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.color("accent" if is_on else "edge"), 1))
    painter.setBrush(theme.color("accent" if is_on else "surface"))
    painter.drawRoundedRect(box, 3, 3)
    if is_on:
        inside = box.adjusted(3, 3, -3, -3)
        painter.setPen(QPen(theme.color("on_accent"), 2))
        places = ((0.0, 0.55), (0.38, 0.95), (1.0, 0.05))
        corner = inside.topLeft()
        painter.drawPolyline([corner + QPointF(x * inside.width(), y * inside.height()) for x, y in places])
    painter.restore()
