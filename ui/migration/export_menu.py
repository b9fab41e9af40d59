"""Export: a report of what is shown, as HTML in the language of the window, CSV, SARIF or JSON."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

from studio import files, texts
from studio.errors import StudioError, from_os
from studio.texts import t
from ui.asking import ask
from ui.file_dialogs import ask_new_file
from ui.widgets import button

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from backends.migration.scan.overview import Overview
    from ui.migration.results import Scan
    from ui.session import Session

FORMATS = (
    ("html", "migration.export.html"), ("csv", "migration.export.csv"), ("sarif", "migration.export.sarif"),
    ("json", "migration.export.json"),
)  # fmt: skip


class ExportMenu:
    """Its button is for the page to place."""

    def __init__(self, page: QWidget, session: Session) -> None:
        self._page, self._session = page, session
        self._scan: Scan | None = None
        self.button = button("migration.export.button", "migration.export.button")
        self.button.clicked.connect(self.open)

    def show_scan(self, scan: Scan | None) -> None:
        self._scan = scan
        self.button.setVisible(scan is not None and scan.overview is not None)

    def open(self) -> None:
        menu = QMenu(self._page)
        menu.setObjectName("migration_export_menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for format, key in FORMATS:
            menu.addAction(t(key), partial(self._ask, format))
        menu.popup(self.button.mapToGlobal(self.button.rect().bottomLeft()))

    def _ask(self, format: str) -> None:
        project = self._session.project
        if project is not None:
            start = Path.home() / f"{project.name}-npu.{format}"
            ask_new_file(self._page, t("migration.export.where"), start, format, partial(self.write, format))

    def write(self, format: str, path: Path) -> None:
        """Made off the UI thread: a large project has a long report."""
        scan = self._scan
        if scan is not None and scan.overview is not None:
            language = texts.language()
            ask(self._page, partial(_written, scan, scan.overview, format, language, path), self._told)

    def _told(self, error: StudioError | None) -> None:
        if error is not None:
            self._session.trouble.emit(error)


def _written(scan: Scan, overview: Overview, format: str, language: texts.Language, path: Path) -> StudioError | None:
    from backends.migration.export.report import report
    from backends.migration.scan.overview import counted

    lines = {file.path: file.lines for file in overview.heat}
    marks = {mark: scan.reasons[mark] for mark in scan.marks if mark in scan.reasons}
    now = msgspec.structs.replace(overview, suppressed=marks, **counted(scan.counted(), lines))
    try:
        files.write_whole(path, report(scan.findings, now, format, language))
    except OSError as error:
        return from_os(error, path)
    return None
