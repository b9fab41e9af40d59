"""What trust means for this project and who reads its runs, and the buttons that change it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout

from studio.errors import from_os
from studio.security import trust
from studio.texts import t
from ui.shell.sharing import answer_sharing
from ui.widgets.basic import (
    Sentence,
    button,
    label,
    line,
    primary_button,
    text_button,
)
from ui.widgets.popover import Popover

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from studio.project import Project
    from ui.services.session import Session


def trust_sheet(owner: QWidget, session: Session, project: Project, sharing_changed: Callable[[], None]) -> Popover:
    """Emit `project_changed` once the answer about trust is stored, so that whatever shows trust reads it again, and
    call `sharing_changed` after one about sharing.
    """
    sheet = Popover(owner, "trust_sheet", 400)
    _add_trust(sheet, session, project)
    if trust.is_writable_by_group(project.folder) or trust.is_shared(project.folder):
        sheet.column.addWidget(line())
        _add_sharing(sheet, session, project, sharing_changed)
    return sheet


def _add_trust(sheet: Popover, session: Session, project: Project) -> None:
    trusted = trust.is_trusted(project.folder)
    sheet.column.addWidget(label("shell.trusted_title" if trusted else "shell.restricted_title", "title"))
    why = Sentence()
    folder = str(project.folder)
    why.setText(t("shell.trusted_why", folder=folder) if trusted else t("shell.restricted_why", folder=folder))
    sheet.column.addWidget(why)
    more = text_button("help.what_is_run", "trust_sheet_help")
    more.clicked.connect(lambda: _show_help(sheet, session))
    make = button if trusted else primary_button
    answer = make("shell.withdraw" if trusted else "shell.trust", "trust_sheet_answer")
    answer.clicked.connect(lambda: _answer(sheet, session, project, not trusted))
    row = QHBoxLayout()
    row.addWidget(more)
    row.addStretch(1)
    row.addWidget(answer)
    sheet.column.addLayout(row)


def _add_sharing(sheet: Popover, session: Session, project: Project, changed: Callable[[], None]) -> None:
    shared = trust.is_shared(project.folder)
    sheet.column.addWidget(label("shell.shared_title" if shared else "shell.private_title", "title"))
    why, group = Sentence(), trust.group_of(project.folder)
    why.setText(t("shell.shared_why", group=group) if shared else t("shell.private_why", group=group))
    sheet.column.addWidget(why)
    answer = button("shell.keep_private" if shared else "shell.share", "trust_sheet_sharing")

    def change() -> None:
        sheet.close()
        answer_sharing(session, project, not shared)
        changed()

    answer.clicked.connect(change)
    sheet.column.addWidget(answer, 0, Qt.AlignmentFlag.AlignRight)


def _show_help(sheet: Popover, session: Session) -> None:
    sheet.close()
    session.show_help("help.what_is_run")


def _answer(sheet: Popover, session: Session, project: Project, trusted: bool) -> None:
    sheet.close()
    try:
        trust.set_trust(project.folder, trusted)
    except OSError as error:
        session.trouble.emit(from_os(error, project.folder))
    session.project_changed.emit(project)
