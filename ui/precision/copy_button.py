"""A button that copies a text and confirms it for a moment."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton

from ui.widgets.basic import show_icon
from ui.widgets.copy_card import FEEDBACK
from ui.widgets.localized import localize


class CopyButton(QPushButton):
    def __init__(self, object_name: str) -> None:
        super().__init__()
        self.setObjectName(object_name)
        self.setProperty("role", "text")
        self.setAutoDefault(False)
        self._text = ""
        self._feedback = QTimer(self)
        self._feedback.setSingleShot(True)
        self._feedback.timeout.connect(lambda: self._show_copied(False))
        self.clicked.connect(self._copy)
        self._show_copied(False)

    def show_text(self, text: str) -> None:
        self._text = text

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text)
        self._show_copied(True)
        self._feedback.start(FEEDBACK)

    def _show_copied(self, copied: bool) -> None:
        localize(self.setText, "launch.copied" if copied else "launch.copy")
        show_icon(self, "check" if copied else "copy", "accent", 16)
