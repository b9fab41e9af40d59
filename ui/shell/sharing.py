"""Whether the group of a project may read its runs: the question under the top bar, asked once, and the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy

from studio.errors import from_os
from studio.security import trust
from ui.widgets.basic import Sentence, button, label
from ui.widgets.icons import show_icon
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from studio.project import Project
    from ui.services.session import Session


class SharingQuestion(QFrame):
    """Hidden unless the group of the open project can write in it and the user has not answered yet."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setObjectName("sharing")
        self._session = session
        self._project: Project | None = None
        self.text = Sentence()
        self.text.setObjectName("sharing_text")
        self.text.setProperty("role", "")
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.share = button("shell.share", "sharing_share")
        self.keep = button("shell.keep_private", "sharing_keep")
        self.share.clicked.connect(lambda: self._answer(True))
        self.keep.clicked.connect(lambda: self._answer(False))
        mark = label()
        show_icon(mark, "lock", "accent")
        row = QHBoxLayout(self)
        row.setContentsMargins(24, 7, 12, 7)
        row.setSpacing(10)
        row.addWidget(mark)
        row.addWidget(self.text, 1)
        row.addWidget(self.share)
        row.addWidget(self.keep)
        self.hide()

    def show_project(self, project: Project | None) -> None:
        """Ask about a project, or nothing. Reads one small file."""
        self._project = project
        is_open = project is not None and trust.is_sharing_open(project.folder)
        if project is not None and is_open:
            localize(self.text.setText, "shell.sharing_question", group=trust.group_of(project.folder))
        self.setVisible(is_open)

    def _answer(self, shared: bool) -> None:
        if self._project is not None:
            answer_sharing(self._session, self._project, shared)
            self.show_project(self._project)


def answer_sharing(session: Session, project: Project, shared: bool) -> None:
    """Save the answer; trouble is reported."""
    try:
        trust.set_sharing(project.folder, shared)
    except OSError as error:
        session.trouble.emit(from_os(error, project.folder))
