"""A choice of places by their names, which are shortened where there is no room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox

from ui.plain_text import plain_tip
from ui.say import say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtGui import QResizeEvent, QWheelEvent

WHOLE = Qt.ItemDataRole.UserRole + 1


class PlaceBox(QComboBox):
    """As wide as there is room; scrolling the page over it must not change it."""

    def __init__(self, name: str, title_key: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        say(self, "setAccessibleName", title_key)

    def show_entries(self, entries: Iterable[tuple[str, Any]], chosen: int) -> None:
        """Names and what they stand for; `chosen`: the index of the one that is shown."""
        self.clear()
        for name, value in entries:
            self.addItem("", value)
            self.setItemData(self.count() - 1, name, WHOLE)
            self.setItemData(self.count() - 1, plain_tip(name), Qt.ItemDataRole.ToolTipRole)
        self.setCurrentIndex(chosen)
        self._shorten()

    def _shorten(self) -> None:
        room = self._room()
        for index in range(self.count()):
            whole = str(self.itemData(index, WHOLE))
            self.setItemText(index, self.fontMetrics().elidedText(whole, Qt.TextElideMode.ElideMiddle, room))

    def _room(self) -> int:
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        field = QStyle.SubControl.SC_ComboBoxEditField
        return self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, field, self).width()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._shorten()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()
