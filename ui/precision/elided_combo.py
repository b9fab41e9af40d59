"""A combo box of long names, which are elided in the middle where there is no room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox

from ui.widgets.localized import localize
from ui.widgets.plain_tip import plain_tip

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtGui import QResizeEvent, QWheelEvent

FULL_TEXT = Qt.ItemDataRole.UserRole + 1


class ElidedComboBox(QComboBox):
    """As wide as there is room; scrolling the page over it does not change it."""

    def __init__(self, name: str, title_key: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        localize(self.setAccessibleName, title_key)

    def show_entries(self, entries: Iterable[tuple[str, Any]], chosen: int) -> None:
        """Show pairs of name and value; `chosen` is the index that is selected."""
        self.clear()
        for name, value in entries:
            self.addItem("", value)
            self.setItemData(self.count() - 1, name, FULL_TEXT)
            self.setItemData(self.count() - 1, plain_tip(name), Qt.ItemDataRole.ToolTipRole)
        self.setCurrentIndex(chosen)
        self._shorten()

    def _shorten(self) -> None:
        room = self._text_width()
        for index in range(self.count()):
            full_text = str(self.itemData(index, FULL_TEXT))
            self.setItemText(index, self.fontMetrics().elidedText(full_text, Qt.TextElideMode.ElideMiddle, room))

    def _text_width(self) -> int:
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        field = QStyle.SubControl.SC_ComboBoxEditField
        return self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, field, self).width()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._shorten()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()
