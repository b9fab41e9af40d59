"""A bar above a comparison that reports the outcome of something that the user started from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFrame, QHBoxLayout

from studio.sentences import sentence_of
from ui.widgets.basic import Elided, Sentence, label, mono_font, text_button
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from studio.events import Finding, Note


class NoticeBar(QFrame):
    """Shows either the events of a check as sentences or a file that was written; hidden until there is one.

    `name` is the object name of the bar and the prefix of those of its parts."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setProperty("role", "card")
        self._events: Sequence[Finding | Note] = ()
        self._file = Path()
        self.sentence = Sentence()
        self.sentence.setObjectName(f"{name}_text")
        self._title = label("", "strong")
        self.path = Elided()
        self.path.setFont(mono_font(12))
        self._folder = text_button("precision.more.open_folder", f"{name}_folder")
        self._folder.clicked.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._file.parent))))
        close = text_button("precision.page.close", f"{name}_close")
        close.clicked.connect(self.hide)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 6, 8, 6)
        row.setSpacing(10)
        row.addWidget(self._title)
        row.addWidget(self.path, 1)
        row.addWidget(self.sentence, 1)
        row.addWidget(self._folder)
        row.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

    def show_events(self, events: Sequence[Finding | Note]) -> None:
        self._events = events
        self.retranslate()
        self._show_file_parts(False)
        self.setVisible(bool(events))

    def show_file(self, title_key: str, file: Path) -> None:
        self._file = file
        self.path.setText(str(file))
        localize(self._title.setText, title_key)
        localize(self.setAccessibleName, title_key)
        self._show_file_parts(True)
        self.show()

    def _show_file_parts(self, is_file: bool) -> None:
        for widget in (self._title, self.path, self._folder):
            widget.setVisible(is_file)
        self.sentence.setVisible(not is_file)

    def retranslate(self) -> None:
        self.sentence.setText("\n".join(map(sentence_of, self._events)))
