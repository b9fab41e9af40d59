"""The report for sign-off: HTML in either language, of the comparison that is shown."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

from studio import files
from studio.errors import StudioError, from_os
from studio.texts import t
from ui.asking import ask
from ui.file_dialogs import ask_new_file
from ui.widgets import button

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from studio.texts import Language
    from ui.precision.compared import Compared
    from ui.session import Session

LANGUAGES: tuple[tuple[Language, str], ...] = (("en", "precision.page.report_en"), ("zh", "precision.page.report_zh"))


class ReportMenu:
    """Its button is for the page to place."""

    def __init__(self, page: QWidget, session: Session) -> None:
        self._page, self._session = page, session
        self.compared: Compared | None = None
        self.button = button("precision.page.report", "precision_report")
        self.button.clicked.connect(self.open)

    def open(self) -> None:
        menu = QMenu(self._page)
        menu.setObjectName("precision_report_menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for language, key in LANGUAGES:
            menu.addAction(t(key), partial(self._ask, language))
        menu.popup(self.button.mapToGlobal(self.button.rect().bottomLeft()))

    def _ask(self, language: Language) -> None:
        if self.compared is not None:
            start = Path.home() / f"{self.compared.run.name}.html"
            ask_new_file(self._page, t("precision.page.report_where"), start, "html", partial(self.write, language))

    def write(self, language: Language, path: Path) -> None:
        """Made off the UI thread: a comparison may have a million rows."""
        if self.compared is not None:
            ask(self._page, partial(_written, self.compared, language, path), self._told)

    def _told(self, error: StudioError | None) -> None:
        if error is not None:
            self._session.trouble.emit(error)


def _written(compared: Compared, language: Language, path: Path) -> StudioError | None:
    from backends.precision.report.html import report

    try:
        files.write_whole(path, report(compared.comparison, compared.run, language))
    except OSError as error:
        return from_os(error, path)
    except StudioError as error:
        return error
    return None
