"""A line that says that a comparison has ended that was not started in this window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout

from studio.texts import t
from ui.widgets.basic import Sentence, text_button

if TYPE_CHECKING:
    from studio.run import Run


class ElsewhereBar(QFrame):
    """Hidden until there is one. `chosen` carries its run when it is to be shown."""

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("precision_elsewhere")
        self.setProperty("role", "card")
        self._run: Run | None = None
        self._title = ""
        self.sentence = Sentence()
        self.sentence.setObjectName("precision_elsewhere_text")
        show = text_button("precision.page.elsewhere_show", "precision_elsewhere_show")
        show.clicked.connect(self._choose)
        close = text_button("precision.page.close", "precision_elsewhere_close")
        close.clicked.connect(self.hide)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 6, 8, 6)
        row.setSpacing(10)
        row.addWidget(self.sentence, 1)
        row.addWidget(show)
        row.addWidget(close)
        self.hide()

    def show_run(self, run: Run, title: str) -> None:
        self._run, self._title = run, title
        self.retranslate()
        self.show()

    def _choose(self) -> None:
        self.hide()
        if self._run is not None:
            self.chosen.emit(self._run)

    def retranslate(self) -> None:
        self.sentence.setText(t("precision.page.elsewhere", title=self._title))
