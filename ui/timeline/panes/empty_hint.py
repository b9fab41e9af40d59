"""A hint in an empty pane."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ui.widgets.basic import Sentence


class Hint(QWidget):
    def __init__(self, key: str) -> None:
        super().__init__()
        self.text = Sentence(key)
        self.text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 8, 24, 8)
        column.addWidget(self.text)
