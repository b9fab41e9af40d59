"""Progress of reading a profile, with a button to cancel it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from studio.texts import t
from studio.units import size
from ui.widgets.basic import Elided, text_button

PARTS = 1000


class Loading(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("timeline_loading")
        self._path = Path()
        self._done, self._total = 0, 0
        self._text = Elided(role="dim")
        self.cancel = text_button("timeline.page.cancel", "timeline_cancel")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setFixedHeight(6)
        row = QHBoxLayout()
        row.addWidget(self._text, 1)
        row.addWidget(self.cancel)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(row)
        column.addWidget(self._bar)
        self.hide()

    def begin(self, path: Path) -> None:
        self._path = path
        self.show_progress(0, 0)

    def show_progress(self, done: int, total: int) -> None:
        """Show progress in bytes; a `total` of 0 means unknown."""
        self._done, self._total = done, total
        self._bar.setRange(0, PARTS if total else 0)
        self._bar.setValue(PARTS * done // total if total else 0)
        self.retranslate()

    def retranslate(self) -> None:
        name = self._path.name
        if self._total:
            args = {"name": name, "done": size(self._done), "total": size(self._total)}
            self._text.setText(t("timeline.page.reading_far", **args))
        else:
            self._text.setText(t("timeline.page.reading", name=name))
