"""A small sheet below a button: it explains or lists, and closes when one clicks elsewhere or presses Escape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent


class Popover(QFrame):
    """`column` takes what it holds. It is made each time it opens, so it needs no translation and no restyling."""

    def __init__(self, owner: QWidget, object_name: str, width: int) -> None:
        super().__init__(owner.window(), Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName(object_name)
        self.setProperty("role", "popover")
        self.setFixedWidth(width)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(16, 14, 16, 16)
        self.column.setSpacing(10)

    def show_below(self, anchor: QWidget) -> None:
        """Below a widget, inside the window: from its left edge on, or to its right edge where that is too narrow."""
        self.ensurePolished()
        self.setFixedHeight(self._height())
        window = anchor.window()
        corner = anchor.mapTo(window, QPoint(0, anchor.height() + 4))
        is_narrow = corner.x() + self.width() > window.width() - 8
        left = max(8, corner.x() + anchor.width() - self.width() if is_narrow else corner.x())
        top = max(8, min(corner.y(), window.height() - self.height() - 8))
        self.move(window.mapToGlobal(QPoint(left, top)))
        self.show()

    def _height(self) -> int:
        """What its sentences need at its width: Qt asks that of a layout, not of a window's size hint."""
        if not self.column.hasHeightForWidth():
            return self.sizeHint().height()
        border = self.contentsMargins()
        inside = self.width() - border.left() - border.right()
        return self.column.totalHeightForWidth(inside) + border.top() + border.bottom()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)
