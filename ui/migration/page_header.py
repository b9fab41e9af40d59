"""The head of the page: its tabs, when the project was scanned, and actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from studio.texts import t
from ui.migration.export_menu import ExportMenu
from ui.widgets.basic import (
    MARGIN,
    Chip,
    Title,
    button,
    text_button,
)
from ui.widgets.tabs import Tabs

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from ui.migration.run_results import Scan
    from ui.services.session import Session

TABS = ("migration.tab_findings", "migration.tab_overview", "migration.tab_changes", "migration.tab_certificate")
MIN_WIDTH_FOR_ALL = 830


class PageHeader(QWidget):
    """Shows only the title until there is a scan."""

    tab_chosen = Signal(int)
    scan_requested = Signal()
    options_requested = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._scan: Scan | None = None
        self._when = ""
        self.chip = Chip()
        self.chip.setObjectName("migration_state")
        self.tabs = Tabs("migration_tabs", "migration.tabs", TABS)
        self.tabs.currentChanged.connect(self.tab_chosen)
        self.options = text_button("migration.options", "migration.options")
        self.options.clicked.connect(self.options_requested)
        self.export = ExportMenu(self, session)
        self.scan_again = button("migration.scan_again", "migration.scan_again")
        self.scan_again.clicked.connect(self.scan_requested)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, MARGIN, 0)
        row.setSpacing(8)
        row.addWidget(Title("migration.title"))
        row.addSpacing(4)
        row.addWidget(self.tabs)
        row.addWidget(self.chip)
        row.addStretch(1)
        for widget in (self.options, self.export.button, self.scan_again):
            row.addWidget(widget)
        self.retranslate()

    def show_scan(self, scan: Scan | None, when: str) -> None:
        """Show the actions for a scan. `when`: its time in words."""
        self._scan, self._when = scan, when
        self.export.show_scan(scan)
        self.retranslate()

    def retranslate(self) -> None:
        self.chip.show_state(t("migration.scanned_at", when=self._when))
        self._hide_what_lacks_room()

    def _hide_what_lacks_room(self) -> None:
        """Hide the least important widgets where there is no room; the options are also a command."""
        has_scan = self._scan is not None
        has_room = has_scan and self.width() >= MIN_WIDTH_FOR_ALL
        self.tabs.setVisible(has_scan)
        self.scan_again.setVisible(has_scan)
        self.options.setVisible(has_room)
        self.chip.setVisible(has_room)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if (event.oldSize().width() >= MIN_WIDTH_FOR_ALL) != (self.width() >= MIN_WIDTH_FOR_ALL):
            self._hide_what_lacks_room()
