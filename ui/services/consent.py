"""The question before code of a project runs that is not trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton

from studio.errors import from_os
from studio.security import trust
from ui.widgets.basic import (
    Card,
    Sentence,
    button,
    text_button,
)
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtGui import QKeyEvent

    from ui.services.session import Session


class Consent(Card):
    """Hidden until a question is asked; the page hides it when the subject of the question changes."""

    def __init__(self, session: Session) -> None:
        super().__init__("launch.consent")
        self._session = session
        self._then: Callable[[], object] = self.hide
        self.text = Sentence()
        self._agree, leave = button("launch.trust", "launch.trust"), text_button("launch.not_now", "launch.not_now")
        self._agree.clicked.connect(self._trust)
        leave.clicked.connect(self.hide)
        more = text_button("help.what_is_run", "consent_help")
        more.clicked.connect(lambda: session.show_help("help.what_is_run"))
        row = QHBoxLayout()
        row.addWidget(self._agree)
        row.addWidget(leave)
        row.addStretch(1)
        row.addWidget(more)
        self.body.addWidget(self.text)
        self.body.addLayout(row)
        self.hide()

    def asks(self, code_of: Callable[[Path], tuple[Path, ...]], then: Callable[[], object]) -> bool:
        """Asks where code of a project that is not trusted would run, and does `then` when that is agreed to.

        `code_of`: what of a project's folder would run.
        """
        project = self._session.project
        code = code_of(project.folder) if project else ()
        if project is None or not code or trust.is_trusted(project.folder):
            return False
        self._then = then
        localize(self.text.setText, "launch.consent_text", code=", ".join(map(str, code)), project=project.folder)
        self.show()
        self._agree.setFocus()
        return True

    def _trust(self) -> None:
        project = self._session.project
        assert project is not None
        self.hide()
        try:
            trust.set_trust(project.folder, True)
        except OSError as error:
            self._session.trouble.emit(from_os(error, project.folder))
            return
        self._session.project_changed.emit(project)
        self._then()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter answers with the button that has the focus; outside a dialog Qt gives buttons only Space."""
        focused = self.focusWidget()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and isinstance(focused, QPushButton):
            focused.click()
        else:
            super().keyPressEvent(event)
