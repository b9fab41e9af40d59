"""The head of the page: its views, when it was scanned, and what can be done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from studio.texts import t
from ui.migration.export_menu import ExportMenu
from ui.tabs import Tabs
from ui.widgets import MARGIN, Chip, Title, button, text_button

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from ui.migration.results import Scan
    from ui.session import Session

TABS = ("migration.tab_findings", "migration.tab_overview", "migration.tab_changes", "migration.tab_certificate")
ROOM_FOR_ALL = 830


class Head(QWidget):
    """Only the title before there is a scan."""

    tab_chosen = Signal(int)
    scan_wanted = Signal()
    options_wanted = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._scan: Scan | None = None
        self._when = ""
        self.chip = Chip()
        self.chip.setObjectName("migration_state")
        self.tabs = Tabs("migration_tabs", "migration.tabs", TABS)
        self.tabs.currentChanged.connect(self.tab_chosen)
        self.options = text_button("migration.options", "migration.options")
        self.options.clicked.connect(self.options_wanted)
        self.export = ExportMenu(self, session)
        self.again = button("migration.scan_again", "migration.scan_again")
        self.again.clicked.connect(self.scan_wanted)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, MARGIN, 0)
        row.setSpacing(8)
        row.addWidget(Title("migration.title"))
        row.addSpacing(4)
        row.addWidget(self.tabs)
        row.addWidget(self.chip)
        row.addStretch(1)
        for widget in (self.options, self.export.button, self.again):
            row.addWidget(widget)
        self.retranslate()

    def show_scan(self, scan: Scan | None, when: str) -> None:
        """`when`: it was scanned, in words."""
        self._scan, self._when = scan, when
        self.export.show_scan(scan)
        self.retranslate()

    def retranslate(self) -> None:
        self.chip.show_state(t("migration.scanned_at", when=self._when))
        self._fold()

    def _fold(self) -> None:
        """Too narrow, the least of it goes; the options are among the commands."""
        has_scan = self._scan is not None
        has_room = has_scan and self.width() >= ROOM_FOR_ALL
        self.tabs.setVisible(has_scan)
        self.again.setVisible(has_scan)
        self.options.setVisible(has_room)
        self.chip.setVisible(has_room)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if (event.oldSize().width() >= ROOM_FOR_ALL) != (self.width() >= ROOM_FOR_ALL):
            self._fold()
