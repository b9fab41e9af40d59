"""The same start in other forms: a command for a shell, a script, JSON. The visible text is what is copied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit

from ui.widgets.basic import (
    Card,
    Sentence,
    mono_font,
    show_icon,
    text_button,
)
from ui.widgets.localized import localize
from ui.widgets.tabs import Tabs

if TYPE_CHECKING:
    from collections.abc import Sequence

FEEDBACK = 1500
FEWEST_LINES, MAX_LINES = 4, 16


class CopyCard(Card):
    """`tabs` are keys of the names of the forms; `show_texts` gives their texts in the same order."""

    def __init__(self, title_key: str, tabs: Sequence[str], object_name: str) -> None:
        super().__init__(title_key)
        self._texts: Sequence[str] = [""] * len(tabs)
        self.copy_button = text_button("launch.copy", f"{object_name}.copy")
        show_icon(self.copy_button, "copy", "accent", 16)
        self.copy_button.clicked.connect(self._copy)
        self.header.addWidget(self.copy_button)
        self.tabs = Tabs(f"{object_name}.tabs", title_key, tabs)
        self.tabs.currentChanged.connect(lambda _index: self._show())
        self.view = _view(f"{object_name}.text")
        localize(self.view.setAccessibleName, title_key)
        self._old = Sentence("launch.lines_wait")
        self._old.hide()
        self.body.setSpacing(8)
        self.body.addWidget(self.tabs)
        self.body.addWidget(self.view)
        self.body.addWidget(self._old)
        self._feedback = QTimer(self)
        self._feedback.setSingleShot(True)
        self._feedback.timeout.connect(lambda: self._show_feedback(False))

    def show_texts(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._show()

    def show_wrong(self, wrong: bool) -> None:
        """Nothing to copy while the form holds something that cannot be started."""
        self.copy_button.setDisabled(wrong)
        self.view.setDisabled(wrong)
        self._old.setVisible(wrong)

    def _show(self) -> None:
        text = self._texts[self.tabs.currentIndex()]
        if text != self.view.toPlainText():
            self.view.setPlainText(text)
            lines = min(MAX_LINES, max(FEWEST_LINES, text.count("\n") + 1))
            # Room for the scroll bar of a path that is longer than the card: a wrapped command is hard to read.
            self.view.setFixedHeight(lines * self.view.fontMetrics().lineSpacing() + 36)
        self._show_feedback(False)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._texts[self.tabs.currentIndex()])
        self._show_feedback(True)
        self._feedback.start(FEEDBACK)

    def _show_feedback(self, copied: bool) -> None:
        localize(self.copy_button.setText, "launch.copied" if copied else "launch.copy")
        show_icon(self.copy_button, "check" if copied else "copy", "accent", 16)


def _view(object_name: str) -> QPlainTextEdit:
    view = QPlainTextEdit()
    view.setObjectName(object_name)
    view.setReadOnly(True)
    view.setFont(mono_font())
    view.setTabChangesFocus(True)
    view.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    return view
