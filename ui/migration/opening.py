"""Opens places in the user's editor; the first time, where none is found, it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.errors import StudioError
from ui import editor
from ui.editor_sheet import EditorSheet

if TYPE_CHECKING:
    from ui.pages.migration import MigrationPage


class Opening:
    def __init__(self, page: MigrationPage) -> None:
        self._page = page

    def open_at(self, path: str, line: int) -> None:
        """`path`: relative to the project."""
        words, project = editor.chosen(), self._page.session.project
        if not words:
            self.choose_editor()
        elif project is not None:
            try:
                editor.open_at(words, project.folder / path, line)
            except StudioError as error:
                self._page.session.trouble.emit(error)

    def choose_editor(self) -> None:
        EditorSheet(self._page, self._page.session, self._kept).show_below(self._page.findings.rule.editor)

    def _kept(self, _words: tuple[str, ...]) -> None:
        self._page.findings.open_editor()
