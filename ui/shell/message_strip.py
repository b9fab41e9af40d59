"""The strip under the top bar: what went wrong, in one sentence; our own bugs with their details folded."""

from __future__ import annotations

import traceback
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QPushButton, QSizePolicy, QVBoxLayout

from studio.errors import StudioError
from studio.texts import t
from ui.widgets.basic import (
    Sentence,
    label,
    mono_font,
    retone,
    text_button,
)
from ui.widgets.icons import show_icon
from ui.widgets.localized import localize

MAX_MESSAGES = 20


@dataclass(frozen=True, kw_only=True)
class Message:
    """`error` makes the sentence in the language of the moment; `details` are for a report of a bug."""

    error: BaseException
    details: str = ""

    def sentence(self) -> str:
        if isinstance(self.error, StudioError):
            return str(self.error)
        words = traceback.format_exception_only(type(self.error), self.error)
        return t("strip.our_error", reason=words[-1].strip()[:200])


def message_of(error: BaseException) -> Message:
    if isinstance(error, StudioError):
        return Message(error=error)
    return Message(error=error, details="".join(traceback.format_exception(type(error), error, error.__traceback__)))


class Strip(QFrame):
    """Shows the newest message; closing it brings back the one before. The same one twice is shown once."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("strip")
        self._messages: list[Message] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 7, 12, 7)
        column.setSpacing(8)
        row = QHBoxLayout()
        row.setSpacing(10)
        self._icon = label()
        self._sentence = Sentence()
        self._sentence.setObjectName("strip_sentence")
        self._sentence.setProperty("role", "")
        self._sentence.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self._more = label(role="hint")
        self._unfold = text_button("strip.details", "strip_details")
        self._copy = text_button("strip.copy", "strip_copy")
        self._close = _close_button()
        row.addWidget(self._icon)
        for widget in (self._sentence, self._more, self._copy, self._unfold, self._close):
            row.addWidget(widget, 1 if widget is self._sentence else 0)
        self._details = _details()
        column.addLayout(row)
        column.addWidget(self._details)
        self._unfold.clicked.connect(lambda: self._fold(self._details.isVisible()))
        self._copy.clicked.connect(self._copy_details)
        self._close.clicked.connect(self.close_message)
        self.hide()

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(self._messages)

    def show_error(self, error: BaseException) -> None:
        """Shows what went wrong."""
        message = message_of(error)
        # A message that is visible already is not shown again: an error while painting would paint, and fail, forever.
        if self._messages and self._messages[-1].sentence() == message.sentence():
            return
        others = [other for other in self._messages if other.sentence() != message.sentence()]
        self._messages = [*others, message][-MAX_MESSAGES:]
        self._show()

    def close_message(self) -> None:
        self._messages = self._messages[:-1]
        self._show()

    def retranslate(self) -> None:
        self._show()

    def _show(self) -> None:
        self.setVisible(bool(self._messages))
        if not self._messages:
            return
        message = self._messages[-1]
        self._sentence.setText(message.sentence())
        self._more.setText(t("strip.more", count=len(self._messages) - 1))
        self._more.setVisible(len(self._messages) > 1)
        self._copy.setVisible(bool(message.details))
        self._unfold.setVisible(bool(message.details))
        self._details.setPlainText(message.details)
        localize(self._copy.setText, "strip.copy")
        self._fold(True)
        bad = bool(message.details)
        show_icon(self._icon, "warning", "bad" if bad else "warning")
        retone(self, "tone", "bad" if bad else "warning")

    def _fold(self, folded: bool) -> None:
        self._details.setVisible(not folded)
        localize(self._unfold.setText, "strip.details" if folded else "strip.fold")

    def _copy_details(self) -> None:
        QGuiApplication.clipboard().setText(self._details.toPlainText())
        localize(self._copy.setText, "strip.copied")


def _close_button() -> QPushButton:
    widget = text_button("", "strip_close")
    show_icon(widget, "close", "dim")
    localize(widget.setToolTip, "strip.close")
    localize(widget.setAccessibleName, "strip.close")
    return widget


def _details() -> QPlainTextEdit:
    widget = QPlainTextEdit()
    widget.setObjectName("strip_trace")
    widget.setReadOnly(True)
    widget.setFont(mono_font())
    widget.setFixedHeight(150)
    widget.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    widget.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    return widget
