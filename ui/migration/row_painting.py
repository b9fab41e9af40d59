"""Painting that rows of all lists share: their background, and elided text."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from studio.output.terminal import printable_line
from ui.widgets import theme

V_CENTER = Qt.AlignmentFlag.AlignVCenter


def paint_background(painter: QPainter, option: QStyleOptionViewItem) -> None:
    """Paint the background of a selected or hovered row, and the ring of keyboard focus."""
    if option.state & QStyle.StateFlag.State_Selected:
        painter.fillRect(option.rect, theme.color("selected"))
    elif option.state & QStyle.StateFlag.State_MouseOver:
        painter.fillRect(option.rect, theme.color("page"))
    if option.state & QStyle.StateFlag.State_HasFocus and option.state & QStyle.StateFlag.State_KeyboardFocusChange:
        painter.setPen(QPen(theme.color("accent"), 2))
        painter.drawRect(option.rect.adjusted(1, 1, -1, -1))


def draw_elided(
    painter: QPainter, rect: QRect, text: str, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight
) -> None:
    """Draw one line of text, elided to fit."""
    fits = painter.fontMetrics().elidedText(" ".join(printable_line(text).split()), mode, rect.width())
    painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | V_CENTER, fits)
