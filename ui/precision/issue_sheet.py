"""The text of an issue, to copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit

from ui.popover import Popover
from ui.precision.copy_button import CopyButton
from ui.say import say
from ui.widgets import Sentence, label, mono_font

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

WIDTH, HEIGHT = 620, 380


class IssueSheet(Popover):
    def __init__(self, owner: QWidget) -> None:
        super().__init__(owner, "precision_issue", WIDTH)
        self.view = QPlainTextEdit()
        self.view.setObjectName("precision_issue_text")
        self.view.setReadOnly(True)
        self.view.setFont(mono_font())
        self.view.setFixedHeight(HEIGHT)
        say(self.view, "setAccessibleName", "precision.page.issue")
        self.copy = CopyButton("precision_copy_issue")
        head = QHBoxLayout()
        head.addWidget(label("precision.page.issue", "title"))
        head.addStretch(1)
        head.addWidget(self.copy)
        self.column.addLayout(head)
        self.column.addWidget(Sentence("precision.page.issue_text"))
        self.column.addWidget(self.view)

    def show_text(self, text: str) -> None:
        self.view.setPlainText(text)
        self.copy.show_text(text)
        self.copy.setFocus()
