"""The button that asks for the shapes of the network that is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from ui import actions
from ui.curves.shapes_card import COMMAND
from ui.say import say
from ui.widgets import text_button

if TYPE_CHECKING:
    from ui.pages.launch import LaunchPage


class AskShapes(QObject):
    def __init__(self, page: LaunchPage) -> None:
        super().__init__(page)
        self._page = page
        self.button = text_button("launch.shapes", "launch.shapes")
        self.button.clicked.connect(self.ask)
        say(self.button, "setToolTip", "launch.shapes_hint")
        page.add_action(self.button)
        actions.register(page, "launch.shapes", "launch.shapes", self.ask)

    def ask(self) -> None:
        """One step with the choices of the form."""
        self._page.begin(COMMAND)
