"""One finding in two lines: its state and what it is; where it is, and the effort."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from studio.texts import t
from ui import theme
from ui.migration.finding_model import NAMED
from ui.migration.names import place_text, rule_text
from ui.migration.state_mark import SIZE, paint_mark

if TYPE_CHECKING:
    from backends.migration.found import Found
    from ui.migration.finding_model import Index

HEIGHT = 46
LEFT = 34
VERTICAL = Qt.AlignmentFlag.AlignVCenter


class FindingDelegate(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(160, HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        found = index.data(Qt.ItemDataRole.UserRole)
        painter.save()
        paint_ground(painter, option)
        paint_mark(painter, QRectF(option.rect.left() + 11, option.rect.top() + 7, SIZE, SIZE), found.state)
        self._paint_texts(painter, option.rect, option.font, found, is_named=bool(index.data(NAMED)))
        painter.restore()

    def _paint_texts(self, painter: QPainter, rect: QRect, font: QFont, found: Found, *, is_named: bool) -> None:
        upper = rect.adjusted(LEFT, 4, -10, -HEIGHT // 2)
        lower = rect.adjusted(LEFT, HEIGHT // 2, -10, -4)
        painter.setFont(font)
        painter.setPen(theme.color("text"))
        elided(painter, upper, rule_text(found, "title"))
        painter.setFont(_small(font))
        painter.setPen(theme.color("dim"))
        parts = (
            "CANN" if is_named else "", t("migration.advice") if found.kind == "advice" else "",
            t("migration.effort", n=found.effort) if found.effort else "",
        )  # fmt: skip
        right = " · ".join(filter(None, parts))
        painter.drawText(lower, Qt.AlignmentFlag.AlignRight | VERTICAL, right)
        taken = painter.fontMetrics().horizontalAdvance(right)
        painter.setFont(theme.mono_font(11))
        elided(painter, lower.adjusted(0, 0, -taken - 10, 0), place_text(found), Qt.TextElideMode.ElideLeft)


def paint_ground(painter: QPainter, option: QStyleOptionViewItem) -> None:
    """Selected, under the mouse, and the ring of the keyboard."""
    if option.state & QStyle.StateFlag.State_Selected:
        painter.fillRect(option.rect, theme.color("selected"))
    elif option.state & QStyle.StateFlag.State_MouseOver:
        painter.fillRect(option.rect, theme.color("page"))
    if option.state & QStyle.StateFlag.State_HasFocus and option.state & QStyle.StateFlag.State_KeyboardFocusChange:
        painter.setPen(QPen(theme.color("accent"), 2))
        painter.drawRect(option.rect.adjusted(1, 1, -1, -1))


def elided(painter: QPainter, rect: QRect, text: str, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> None:
    fits = painter.fontMetrics().elidedText(" ".join(text.split()), mode, rect.width())
    painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | VERTICAL, fits)


def _small(font: QFont) -> QFont:
    small = QFont(font)
    small.setPixelSize(12)
    return small
