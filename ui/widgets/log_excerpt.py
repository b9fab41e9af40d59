"""A few lines of a log in a card: as long as they are, they scroll in their own frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit

from studio.output.terminal import printable
from ui.widgets.theme import mono_font

if TYPE_CHECKING:
    from PySide6.QtCore import QEvent

LONGEST = 2000  # characters of a line; the log itself is one click away


class LogExcerpt(QPlainTextEdit):
    """As high as its lines. `text` and `setText` as of a label."""

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setFont(mono_font(12))
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(0)
        self.horizontalScrollBar().rangeChanged.connect(lambda _low, _high: self._fit())

    def text(self) -> str:
        return self.toPlainText()

    def setText(self, text: str) -> None:
        lines = (line if len(line) <= LONGEST else f"{line[:LONGEST]} …" for line in printable(text).split("\n"))
        self.setPlainText("\n".join(lines))
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        self._fit()

    def _fit(self) -> None:
        bar = self.horizontalScrollBar()
        lines = self.blockCount() * self.fontMetrics().lineSpacing() + 2 * self.frameWidth() + 2
        self.setFixedHeight(lines + (bar.sizeHint().height() if bar.maximum() else 0))
