"""Paints a file: its name and folder, its number of findings, and a bar of its effort by state."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFont, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from backends.migration.finding import STATES
from ui.migration.finding_texts import STATE_COLORS
from ui.migration.findings.file_model import FileModel
from ui.migration.row_painting import draw_elided, paint_background
from ui.widgets import theme

if TYPE_CHECKING:
    from backends.migration.scan.overview import FileHeat
    from ui.migration.findings.finding_model import Index

HEIGHT = 46
LEFT = 14
HARDEST_FIRST = tuple(reversed(STATES[:4])) + STATES[4:]


class FileDelegate(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        file, model = index.data(Qt.ItemDataRole.UserRole), index.model()
        painter.save()
        paint_background(painter, option)
        painter.setFont(option.font)
        painter.setPen(theme.color("text"))
        if file is None:
            draw_elided(painter, option.rect.adjusted(LEFT, 0, -10, 0), index.data())
        else:
            self._paint_file(painter, option, file, model.max_effort if isinstance(model, FileModel) else 1)
        painter.restore()

    def _paint_file(self, painter: QPainter, option: QStyleOptionViewItem, file: FileHeat, max_effort: int) -> None:
        upper = option.rect.adjusted(LEFT, 5, -10, -18)
        total = str(sum(file.places.values()))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.setPen(theme.color("dim"))
        painter.drawText(upper, right, total)
        total_width = painter.fontMetrics().horizontalAdvance(total) + 10
        path = PurePosixPath(file.path)
        painter.setPen(theme.color("text"))
        room = upper.adjusted(0, 0, -total_width, 0)
        draw_elided(painter, room, path.name, Qt.TextElideMode.ElideMiddle)
        used = painter.fontMetrics().horizontalAdvance(path.name) + 6
        if str(path.parent) != "." and used < room.width() - 24:
            small = QFont(option.font)
            small.setPixelSize(11)
            painter.setFont(small)
            painter.setPen(theme.color("dim"))
            draw_elided(painter, room.adjusted(used, 1, 0, 1), f"{path.parent}/", Qt.TextElideMode.ElideLeft)
        rect = option.rect
        paint_heat(
            painter, QRectF(rect.left() + LEFT, rect.bottom() - 13, rect.width() - LEFT - 10, 5), file, max_effort
        )


def paint_heat(painter: QPainter, box: QRectF, file: FileHeat, max_effort: int) -> None:
    """Paint a bar as long as the file's effort relative to `max_effort`, hardest state first."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("line"))
    painter.drawRect(box)
    length = box.width() * (max(0.04, file.effort / max_effort) if file.effort else 0.04)
    left = box.left()
    for state in HARDEST_FIRST:
        width = length * file.places[state] / max(1, sum(file.places.values()))
        painter.setBrush(theme.color(STATE_COLORS[state]))
        painter.drawRect(QRectF(left, box.top(), width, box.height()))
        left += width
