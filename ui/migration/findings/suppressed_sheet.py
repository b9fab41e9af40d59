"""A sheet of suppressed findings with their reasons, and buttons that restore them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from backends.migration.scan.suppressions import restore_findings
from studio.errors import from_os
from studio.texts import t
from ui.migration.finding_texts import location_text, rule_text
from ui.widgets.basic import Sentence, label, text_button
from ui.widgets.popover import Popover

if TYPE_CHECKING:
    from collections.abc import Callable

    from backends.migration.finding import ScanFinding
    from ui.migration.run_results import Scan
    from ui.services.session import Session

MAX_ROWS = 100
WIDTH, MAX_HEIGHT = 460, 320
SIDE_MARGINS = 40  # The sheet's margins and the scroll bar.


class SuppressedSheet(Popover):
    """`then` is called after a finding was restored."""

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
        for finding, mark in [(suppressed, mark) for suppressed, mark in pairs if mark in scan.reasons][:MAX_ROWS]:
            rows.addLayout(self._row(finding, mark, scan.reasons[mark]))
        rows.addStretch(1)
        area = QScrollArea()
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inside)
        area.setFixedHeight(min(MAX_HEIGHT, rows.totalHeightForWidth(WIDTH - SIDE_MARGINS)))
        self.column.addWidget(area)

    def _row(self, finding: ScanFinding, mark: str, reason: str) -> QHBoxLayout:
        title, reason_text = Sentence(), Sentence()
        title.setText(f"{rule_text(finding, 'title')} · {location_text(finding)}")
        title.setProperty("role", "")
        reason_text.setText(reason)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(title)
        words.addWidget(reason_text)
        back = text_button("migration.left_back", "migration_left_back")
        back.setAccessibleName(f"{t('migration.left_back')}: {location_text(finding)}")
        back.clicked.connect(partial(self._restore, mark))
        row = QHBoxLayout()
        row.addLayout(words, 1)
        row.addWidget(back, 0, Qt.AlignmentFlag.AlignTop)
        return row

    def _restore(self, mark: str) -> None:
        project = self._session.project
        self.close()
        if project is None:
            return
        try:
            restore_findings(project.folder, (mark,))
        except OSError as error:
            self._session.trouble.emit(from_os(error, error.filename or project.folder))
        self._then()
