"""The question before code of a project runs that is not trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton

from ui.say import say
from ui.widgets import Card, Sentence, button, text_button

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtGui import QKeyEvent


class Consent(Card):
    agreed = Signal()

    def __init__(self) -> None:
        super().__init__("launch.consent")
        self.text = Sentence()
        self._agree, leave = button("launch.trust", "launch.trust"), text_button("launch.not_now", "launch.not_now")
        self._agree.clicked.connect(self.agreed)
        leave.clicked.connect(self.hide)
        row = QHBoxLayout()
        row.addWidget(self._agree)
        row.addWidget(leave)
        row.addStretch(1)
        self.body.addWidget(self.text)
        self.body.addLayout(row)
        self.hide()

    def ask(self, code: tuple[Path, ...], project: Path) -> None:
        """`code`: what of the project would run."""
        say(self.text, "setText", "launch.consent_text", code=", ".join(map(str, code)), project=project)
        self.show()
        self._agree.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter answers with the button that has the focus; outside a dialog Qt gives buttons only Space."""
        focused = self.focusWidget()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and isinstance(focused, QPushButton):
            focused.click()
        else:
            super().keyPressEvent(event)
