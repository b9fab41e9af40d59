"""The part of a page that scrolls: as wide as there is room for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from ui.widgets.basic import GAP, MARGIN

if TYPE_CHECKING:
    from PySide6.QtWidgets import QLayout

BAR = 12
SETTLING = 100


class _Content(QWidget):
    def minimumSizeHint(self) -> QSize:
        """Its height at the width it will have. Qt asks labels that wrap for a width of its own choice, and then
        shows a scroll bar where everything fits."""
        hint, viewport = super().minimumSizeHint(), self.parentWidget()
        if viewport is None or not self.hasHeightForWidth():
            return hint
        return QSize(hint.width(), self.heightForWidth(max(hint.width(), viewport.width())))


class PageScroll(QScrollArea):
    """Its right margin makes room for the scroll bar, so that nothing moves when one appears."""

    def __init__(self, *parts: QWidget | QLayout) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        content = _Content()
        content.setProperty("role", "clear")
        self._column = QVBoxLayout(content)
        self._column.setSpacing(GAP)
        for part in parts:
            if isinstance(part, QWidget):
                self._column.addWidget(part)
            else:
                self._column.addLayout(part)
        self._column.addStretch(1)
        self.setWidget(content)
        self.verticalScrollBar().rangeChanged.connect(lambda _low, high: self._make_room(high > 0))
        self._make_room(False)
        self._revealed: QWidget | None = None
        self._settled = QTimer(self)
        self._settled.setSingleShot(True)
        self._settled.timeout.connect(self._forget)
        self.verticalScrollBar().rangeChanged.connect(lambda _low, _high: self._follow())

    def arrange(self, *parts: QWidget) -> None:
        """Put some of its parts first, in this order."""
        for place, part in enumerate(parts):
            if self._column.indexOf(part) != place:
                self._column.removeWidget(part)
                self._column.insertWidget(place, part)

    def reveal(self, widget: QWidget) -> None:
        """Scrolls to a widget that may have been shown just now: layouts take a moment until they know its place."""
        self._revealed = widget
        self._settled.start(SETTLING)
        self._follow()

    def _follow(self) -> None:
        if self._revealed is not None:
            self.ensureWidgetVisible(self._revealed)

    def _forget(self) -> None:
        self._follow()
        self._revealed = None

    def _make_room(self, bar: bool) -> None:
        self._column.setContentsMargins(0, 0, MARGIN - BAR if bar else MARGIN, MARGIN)


def empty(layout: QLayout) -> None:
    """Takes everything out of a layout, gone from the screen at once."""
    while item := layout.takeAt(0):
        if widget := item.widget():
            widget.hide()
            widget.deleteLater()
