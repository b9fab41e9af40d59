"""Cells of the table; the head of a group is written across all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QStyledItemDelegate, QTableView

from ui import theme
from ui.precision.table_model import GROUP

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter
    from PySide6.QtWidgets import QStyleOptionViewItem

    from ui.precision.table_model import Index

INDENT = 14
WIDEST = 4000


class TableDelegate(QStyledItemDelegate):
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        name = index.data(GROUP)
        if name is None:
            super().paint(painter, option, index)
            return
        painter.save()
        painter.setClipRect(option.rect)
        painter.fillRect(option.rect, theme.color("sunken"))
        font = theme.mono_font(12)
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(theme.color("text"))
        # Every cell draws the whole line and shows its part of it.
        view = self.parent()
        left = view.columnViewportPosition(0) if isinstance(view, QTableView) else option.rect.left()
        line = QRect(left + INDENT, option.rect.top(), WIDEST, option.rect.height())
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, " ".join(name.split("\n")))
        painter.restore()
