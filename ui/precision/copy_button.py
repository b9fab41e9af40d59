"""A button that copies a text, and says for a moment that it did."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton

from ui.copy_card import FEEDBACK
from ui.say import say
from ui.widgets import show_icon


class CopyButton(QPushButton):
    def __init__(self, object_name: str) -> None:
        super().__init__()
        self.setObjectName(object_name)
        self.setProperty("role", "text")
        self.setAutoDefault(False)
        self._text = ""
        self._feedback = QTimer(self)
        self._feedback.setSingleShot(True)
        self._feedback.timeout.connect(lambda: self._say(False))
        self.clicked.connect(self._copy)
        self._say(False)

    def show_text(self, text: str) -> None:
        self._text = text

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text)
        self._say(True)
        self._feedback.start(FEEDBACK)

    def _say(self, copied: bool) -> None:
        say(self, "setText", "launch.copied" if copied else "launch.copy")
        show_icon(self, "check" if copied else "copy", "accent", 16)
