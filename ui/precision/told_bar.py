"""Says what a check found that was asked for beside a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout

from studio.events import Finding
from studio.texts import t
from ui.widgets import Sentence, text_button

if TYPE_CHECKING:
    from collections.abc import Sequence

    from studio.events import Note


class ToldBar(QFrame):
    """Hidden until something was found out."""

    def __init__(self) -> None:
        super().__init__()
        self._told: Sequence[Finding | Note] = ()
        self.setObjectName("precision_told")
        self.setProperty("role", "card")
        self.said = Sentence()
        self.said.setObjectName("precision_told_text")
        close = text_button("precision.page.close", "precision_told_close")
        close.clicked.connect(self.hide)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 6, 8, 6)
        row.setSpacing(10)
        row.addWidget(self.said, 1)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

    def show_told(self, told: Sequence[Finding | Note]) -> None:
        self._told = told
        self.retranslate()
        self.setVisible(bool(told))

    def retranslate(self) -> None:
        self.said.setText("\n".join(said_of(one) for one in self._told))


def said_of(said: Finding | Note) -> str:
    return t(said.rule if isinstance(said, Finding) else said.key, **said.args)
