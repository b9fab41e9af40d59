"""The export menu: a report of the scan as HTML in the window's language, CSV, SARIF or JSON."""

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
from ui.services.background import run_in_background
from ui.services.file_dialogs import choose_new_file
from ui.widgets.basic import button

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from backends.migration.certify.standing import StandingCertificate
    from backends.migration.scan.overview import Overview
    from ui.migration.run_results import Scan
    from ui.services.session import Session

FORMATS = (
    ("html", "migration.export.html"), ("csv", "migration.export.csv"), ("sarif", "migration.export.sarif"),
    ("json", "migration.export.json"),
)  # fmt: skip


class ExportMenu:
    """A button, placed by the page, that opens the menu."""

    def __init__(self, page: QWidget, session: Session) -> None:
        self._page, self._session = page, session
        self._scan: Scan | None = None
        self._certificate: StandingCertificate | None = None
        self.button = button("migration.export.button", "migration.export.button")
        self.button.clicked.connect(self.open_menu)

    def show_scan(self, scan: Scan | None) -> None:
        self._scan = scan
        self.button.setVisible(scan is not None and scan.overview is not None)

    def show_certificate(self, certificate: StandingCertificate | None) -> None:
        """Take the certificate that reports hold."""
        self._certificate = certificate

    def open_menu(self) -> None:
        menu = QMenu(self._page)
        menu.setObjectName("migration_export_menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for format, key in FORMATS:
            menu.addAction(t(key), partial(self._choose_path, format))
        menu.popup(self.button.mapToGlobal(self.button.rect().bottomLeft()))

    def _choose_path(self, format: str) -> None:
        project = self._session.project
        if project is not None:
            start = Path.home() / f"{project.name}-npu.{format}"
            choose_new_file(self._page, t("migration.export.where"), start, format, partial(self.write, format))

    def write(self, format: str, path: Path) -> None:
        """Write the report off the UI thread, as that of a large project is long."""
        scan = self._scan
        if scan is not None and scan.overview is not None:
            language = texts.language()
            run_in_background(
                self._page,
                partial(_write_report, scan, scan.overview, format, language, path, self._certificate),
                self._report_error,
            )

    def _report_error(self, error: StudioError | None) -> None:
        if error is not None:
            self._session.trouble.emit(error)


def _write_report(
    scan: Scan,
    overview: Overview,
    format: str,
    language: texts.Language,
    path: Path,
    certificate: StandingCertificate | None,
) -> StudioError | None:
    from backends.migration.export.report import render_report
    from backends.migration.scan.overview import finding_figures

    lines = {file.path: file.lines for file in overview.heat}
    marks = {mark: scan.reasons[mark] for mark in scan.marks if mark in scan.reasons}
    now = msgspec.structs.replace(overview, suppressed=marks, **finding_figures(scan.open_findings(), lines))
    try:
        files.write_whole(path, render_report(scan.findings, now, format, language, certificate))
    except OSError as error:
        return from_os(error, path)
    return None
