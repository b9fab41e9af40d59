"""The captures of the project's runs: what each holds, and which side of a comparison it is to be."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ui.page_scroll import empty
from ui.precision.captures import name_of, words_of
from ui.say import say
from ui.widgets import Card, Elided, Sentence, button, line, text_button

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ui.precision.captures import Capture

MOST = 6


class CapturedCard(Card):
    """`side_chosen`: 'target' or 'golden', and the capture."""

    side_chosen = Signal(str, object)

    def __init__(self) -> None:
        super().__init__("precision.more.captured")
        self.setObjectName("precision_captured")
        self._captures: Sequence[Capture] = ()
        self._none = Sentence("precision.more.captured_none")
        self._more = Sentence()
        self._rows = QVBoxLayout()
        self._rows.setSpacing(8)
        self.body.addWidget(self._none)
        self.body.addLayout(self._rows)
        self.body.addWidget(self._more)
        self.show_captures(())

    def show_captures(self, captures: Sequence[Capture]) -> None:
        self._captures = captures
        self.retranslate()

    def retranslate(self) -> None:
        empty(self._rows)
        for number, capture in enumerate(self._captures[:MOST]):
            if number:
                self._rows.addWidget(line())
            self._rows.addWidget(self._row(number, capture))
        left = len(self._captures) - MOST
        self._none.setVisible(not self._captures)
        self._more.setVisible(left > 0)
        say(self._more, "setText", "precision.more.captured_more", count=left)

    def _row(self, number: int, capture: Capture) -> QWidget:
        name, words = Elided(role="strong"), Elided(role="hint")
        name.setText(name_of(capture))
        words.setText(words_of(capture))
        made = QWidget()
        column = QVBoxLayout(made)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(1)
        column.addWidget(name)
        column.addWidget(words)
        column.addSpacing(5)
        column.addLayout(self._buttons(number, capture))
        return made

    def _buttons(self, number: int, capture: Capture) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        for side, key in (("target", "precision.more.as_target"), ("golden", "precision.more.as_golden")):
            use = button(key, f"precision_as_{side}_{number}")
            use.clicked.connect(partial(self.side_chosen.emit, side, capture))
            row.addWidget(use)
        row.addStretch(1)
        folder = text_button("precision.more.open_folder", f"precision_open_{number}")
        folder.clicked.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(capture.path))))
        row.addWidget(folder)
        return row
