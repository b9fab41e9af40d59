"""The menu of the sign-off report: HTML of the comparison that is shown, in either language."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

from studio import files
from studio.errors import StudioError, from_os
from studio.texts import t
from ui.services.background import run_in_background
from ui.services.file_dialogs import choose_new_file
from ui.widgets.basic import button

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from studio.texts import Language
    from ui.precision.comparison.loaded_comparison import LoadedComparison
    from ui.services.session import Session

LANGUAGES: tuple[tuple[Language, str], ...] = (("en", "precision.page.report_en"), ("zh", "precision.page.report_zh"))


class ReportMenu:
    """The page places its button."""

    def __init__(self, page: QWidget, session: Session) -> None:
        self._page, self._session = page, session
        self.loaded: LoadedComparison | None = None
        self.button = button("precision.page.report", "precision_report")
        self.button.clicked.connect(self.open)

    def open(self) -> None:
        menu = QMenu(self._page)
        menu.setObjectName("precision_report_menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for language, key in LANGUAGES:
            menu.addAction(t(key), partial(self._choose_file, language))
        menu.popup(self.button.mapToGlobal(self.button.rect().bottomLeft()))

    def _choose_file(self, language: Language) -> None:
        if self.loaded is not None:
            start = Path.home() / f"{self.loaded.run.name}.html"
            choose_new_file(self._page, t("precision.page.report_where"), start, "html", partial(self.write, language))

    def write(self, language: Language, path: Path) -> None:
        """Write the report off the UI thread, since a comparison may have a million rows."""
        if self.loaded is not None:
            run_in_background(self._page, partial(_write_report, self.loaded, language, path), self._report_error)

    def _report_error(self, error: StudioError | None) -> None:
        if error is not None:
            self._session.trouble.emit(error)


def _write_report(loaded: LoadedComparison, language: Language, path: Path) -> StudioError | None:
    from backends.precision.report.html import report

    try:
        files.write_whole(path, report(loaded.comparison, loaded.run, language))
    except OSError as error:
        return from_os(error, path)
    except StudioError as error:
        return error
    return None
