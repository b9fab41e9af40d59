"""What was left as it is, each with its reason, and the way back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from backends.migration.scan.suppress import restore
from studio.errors import from_os
from studio.texts import t
from ui.migration.names import place_text, rule_text
from ui.popover import Popover
from ui.widgets import Sentence, label, text_button

if TYPE_CHECKING:
    from collections.abc import Callable

    from backends.migration.found import Found
    from ui.migration.results import Scan
    from ui.session import Session

MOST_SHOWN = 100
WIDTH, TALLEST = 460, 320
ASIDE = 40  # its margins, and the scroll bar's


class LeftSheet(Popover):
    def __init__(self, owner: QWidget, session: Session, scan: Scan, then: Callable[[], object]) -> None:
        super().__init__(owner, "left_sheet", WIDTH)
        self._session, self._then = session, then
        self.column.addWidget(label("migration.left_title", "title"))
        self.column.addWidget(Sentence("migration.left_text"))
        inside = QWidget()
        inside.setProperty("role", "clear")
        rows = QVBoxLayout(inside)
        rows.setContentsMargins(0, 0, 8, 0)
        rows.setSpacing(12)
        pairs = zip(scan.findings, scan.marks, strict=True)
        for found, mark in [(found, mark) for found, mark in pairs if mark in scan.reasons][:MOST_SHOWN]:
            rows.addLayout(self._row(found, mark, scan.reasons[mark]))
        rows.addStretch(1)
        area = QScrollArea()
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inside)
        area.setFixedHeight(min(TALLEST, rows.totalHeightForWidth(WIDTH - ASIDE)))
        self.column.addWidget(area)

    def _row(self, found: Found, mark: str, reason: str) -> QHBoxLayout:
        what, why = Sentence(), Sentence()
        what.setText(f"{rule_text(found, 'title')} · {place_text(found)}")
        what.setProperty("role", "")
        why.setText(reason)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(what)
        words.addWidget(why)
        back = text_button("migration.left_back", "migration_left_back")
        back.setAccessibleName(f"{t('migration.left_back')}: {place_text(found)}")
        back.clicked.connect(partial(self._bring_back, mark))
        row = QHBoxLayout()
        row.addLayout(words, 1)
        row.addWidget(back, 0, Qt.AlignmentFlag.AlignTop)
        return row

    def _bring_back(self, mark: str) -> None:
        project = self._session.project
        self.close()
        if project is None:
            return
        try:
            restore(project.folder, (mark,))
        except OSError as error:
            self._session.trouble.emit(from_os(error, error.filename or project.folder))
        self._then()
