"""A program with its arguments, written as in a shell."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from studio import schema
from ui.widgets.basic import mono_font, retone

if TYPE_CHECKING:
    from PySide6.QtCore import QMimeData
    from PySide6.QtGui import QResizeEvent

    from studio.schema import Field

MIN_LINES, MAX_LINES = 2, 8
AROUND = 16
CONTINUED = "\\\n"


class WordsInput(QPlainTextEdit):
    """As many lines high as its text needs. A dropped file is announced, not inserted as a URL."""

    edited = Signal()
    file_dropped = Signal(Path)

    def __init__(self, field: Field) -> None:
        super().__init__()
        self._field = field
        self._was_painted = False
        self.focus: QWidget = self
        self.setProperty("role", "field")
        self.setFont(mono_font())
        self.setTabChangesFocus(True)
        self.textChanged.connect(self._changed)
        self._fit()

    def value(self) -> Any:
        """Raises schema.Unreadable."""
        return schema.parse(self._field, self.toPlainText().replace(CONTINUED, " "))

    def show_value(self, value: Any) -> None:
        """What a person types stays as it was typed, as long as it means the same."""
        try:
            is_same = self.value() == tuple(value)
        except schema.Unreadable:
            is_same = False
        if not is_same:
            self._was_painted = True
            self.setPlainText(shlex.join(value))
            self._was_painted = False

    def show_implied(self, text: str) -> None:
        self.setPlaceholderText(text)

    def show_wrong(self, wrong: bool) -> None:
        retone(self, "wrong", "true" if wrong else "false")

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasUrls() or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        paths = [url.toLocalFile() for url in source.urls() if url.isLocalFile()]
        if paths:
            self.file_dropped.emit(Path(paths[0]))
        else:
            self.insertPlainText(source.text())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _changed(self) -> None:
        self._fit()
        if not self._was_painted:
            self.edited.emit()

    def _fit(self) -> None:
        """A plain text counts its height in lines."""
        lines = min(MAX_LINES, max(MIN_LINES, round(self.document().size().height())))
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + AROUND)
