"""Paints a finding in two lines: its state and title, then its location and effort."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from studio.texts import t
from ui.migration.finding_texts import location_text, rule_text
from ui.migration.findings.finding_model import NAMED_ROLE
from ui.migration.row_painting import V_CENTER, draw_elided, paint_background
from ui.migration.state_mark import MARK_SIZE, paint_mark
from ui.widgets import theme

if TYPE_CHECKING:
    from backends.migration.finding import ScanFinding
    from ui.migration.findings.finding_model import Index

HEIGHT = 46
LEFT = 34


class FindingDelegate(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(160, HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        finding = index.data(Qt.ItemDataRole.UserRole)
        painter.save()
        paint_background(painter, option)
        paint_mark(painter, QRectF(option.rect.left() + 11, option.rect.top() + 7, MARK_SIZE, MARK_SIZE), finding.state)
        self._paint_texts(painter, option.rect, option.font, finding, is_named=bool(index.data(NAMED_ROLE)))
        painter.restore()

    def _paint_texts(
        self, painter: QPainter, rect: QRect, font: QFont, finding: ScanFinding, *, is_named: bool
    ) -> None:
        upper = rect.adjusted(LEFT, 4, -10, -HEIGHT // 2)
        lower = rect.adjusted(LEFT, HEIGHT // 2, -10, -4)
        painter.setFont(font)
        painter.setPen(theme.color("text"))
        draw_elided(painter, upper, rule_text(finding, "title"))
        painter.setFont(_small(font))
        painter.setPen(theme.color("dim"))
        notes = (
            "CANN" if is_named else "",
            t("migration.advice") if finding.kind == "advice" else "",
            t("migration.effort", n=finding.effort) if finding.effort else "",
        )
        right = " · ".join(filter(None, notes))
        painter.drawText(lower, Qt.AlignmentFlag.AlignRight | V_CENTER, right)
        right_width = painter.fontMetrics().horizontalAdvance(right)
        painter.setFont(theme.mono_font(11))
        draw_elided(
            painter, lower.adjusted(0, 0, -right_width - 10, 0), location_text(finding), Qt.TextElideMode.ElideLeft
        )


def _small(font: QFont) -> QFont:
    small = QFont(font)
    small.setPixelSize(12)
    return small
