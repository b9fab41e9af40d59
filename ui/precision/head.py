"""The head of the page: its views, when what is shown was made, and what can be done with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from ui.tabs import Tabs
from ui.widgets import MARGIN, Chip, Title

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent
    from PySide6.QtWidgets import QPushButton

    from ui.widgets import Tone

TABS = (
    "precision.page.tab_compare", "precision.page.tab_capture", "precision.page.tab_environment",
    "precision.page.tab_measures",
)  # fmt: skip
ROOM_FOR_ALL = 900


class Head(QWidget):
    """The buttons at the right are those of the comparison that is shown."""

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
        """A button at the right, left of those before it."""
        self._actions.append(widget)
        self._row.insertWidget(self._row.count() - len(self._actions) + 1, widget)
        self._fold()

    def show_state(self, text: str, tone: Tone = "neutral", *, actions: bool = False) -> None:
        """`text`: of the chip, hidden where empty; `actions`: whether there is something to do them with."""
        self._state, self._shows_actions = (text, tone), actions
        self.retranslate()

    def retranslate(self) -> None:
        self.chip.show_state(*self._state)
        self._fold()

    def _fold(self) -> None:
        """Too narrow, the state goes."""
        self.chip.setVisible(bool(self._state[0]) and self.width() >= ROOM_FOR_ALL)
        for widget in self._actions:
            widget.setVisible(self._shows_actions)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if (event.oldSize().width() >= ROOM_FOR_ALL) != (self.width() >= ROOM_FOR_ALL):
            self._fold()
