"""Says where a reproducer was written."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFrame, QHBoxLayout

from ui.say import say
from ui.widgets import Elided, label, mono_font, text_button


class MadeBar(QFrame):
    """Hidden until something was written."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("precision_made")
        self.setProperty("role", "card")
        self._folder = Path()
        self._path = Elided()
        self._path.setFont(mono_font(12))
        look = text_button("precision.more.open_folder", "precision_made_folder")
        look.clicked.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._folder))))
        close = text_button("precision.page.close", "precision_made_close")
        close.clicked.connect(self.hide)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 6, 8, 6)
        row.setSpacing(10)
        row.addWidget(label("precision.page.reproducer", "strong"))
        row.addWidget(self._path, 1)
        row.addWidget(look)
        row.addWidget(close)
        say(self, "setAccessibleName", "precision.page.reproducer")
        self.hide()

    def show_made(self, path: Path) -> None:
        self._folder = path.parent
        self._path.setText(str(path))
        self.show()
