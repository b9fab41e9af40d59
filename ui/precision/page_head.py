"""The head of the page: its tabs, the state of the comparison that is shown, and buttons that act on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from ui.widgets.basic import MARGIN, Chip, Title
from ui.widgets.tabs import Tabs

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent
    from PySide6.QtWidgets import QPushButton

    from ui.widgets.basic import Tone

TABS = (
    "precision.page.tab_compare", "precision.page.tab_capture", "precision.page.tab_environment",
    "precision.page.tab_measures",
)  # fmt: skip
MIN_WIDTH_FOR_STATE = 900


class PageHead(QWidget):
    """The buttons on the right act on the comparison that is shown."""

    tab_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._actions: list[QPushButton] = []
        self._state: tuple[str, Tone] = ("", "neutral")
        self._shows_actions = False
        self.chip = Chip()
        self.chip.setObjectName("precision_state")
        self.tabs = Tabs("precision_tabs", "precision.page.tabs", TABS)
        self.tabs.currentChanged.connect(self.tab_chosen)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, MARGIN, 0)
        self._row.setSpacing(8)
        self._row.addWidget(Title("precision.page.title"))
        self._row.addSpacing(4)
        self._row.addWidget(self.tabs)
        self._row.addWidget(self.chip)
        self._row.addStretch(1)
        self.retranslate()

    def add_action(self, widget: QPushButton) -> None:
        """Add a button on the right, left of the earlier ones."""
        self._actions.append(widget)
        self._row.insertWidget(self._row.count() - len(self._actions) + 1, widget)
        self._fold()

    def show_state(self, text: str, tone: Tone = "neutral", *, actions: bool = False) -> None:
        """Show `text` in the chip, which is hidden where empty, and the buttons where `actions` have something to act
        on."""
        self._state, self._shows_actions = (text, tone), actions
        self.retranslate()

    def retranslate(self) -> None:
        self.chip.show_state(*self._state)
        self._fold()

    def _fold(self) -> None:
        """Hide the state where the page is too narrow."""
        self.chip.setVisible(bool(self._state[0]) and self.width() >= MIN_WIDTH_FOR_STATE)
        for widget in self._actions:
            widget.setVisible(self._shows_actions)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if (event.oldSize().width() >= MIN_WIDTH_FOR_STATE) != (self.width() >= MIN_WIDTH_FOR_STATE):
            self._fold()
