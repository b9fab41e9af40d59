"""What trust means for this project, and the button that gives or withdraws it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from studio.errors import from_os
from studio.security import trust
from studio.texts import t
from ui.widgets.basic import (
    Sentence,
    button,
    label,
    primary_button,
)
from ui.widgets.popover import Popover

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from studio.project import Project
    from ui.services.session import Session


def trust_sheet(owner: QWidget, session: Session, project: Project) -> Popover:
    """Emit `project_changed` once the answer is stored, so that whatever shows trust reads it again."""
    sheet = Popover(owner, "trust_sheet", 380)
    trusted = trust.is_trusted(project.folder)
    sheet.column.addWidget(label("shell.trusted_title" if trusted else "shell.restricted_title", "title"))
    why = Sentence()
    folder = str(project.folder)
    why.setText(t("shell.trusted_why", folder=folder) if trusted else t("shell.restricted_why", folder=folder))
    sheet.column.addWidget(why)
    make = button if trusted else primary_button
    answer = make("shell.withdraw" if trusted else "shell.trust", "trust_sheet_answer")
    answer.clicked.connect(lambda: _answer(sheet, session, project, not trusted))
    sheet.column.addWidget(answer, 0, Qt.AlignmentFlag.AlignRight)
    return sheet


def _answer(sheet: Popover, session: Session, project: Project, trusted: bool) -> None:
    sheet.close()
    try:
        trust.set_trust(project.folder, trusted)
    except OSError as error:
        session.trouble.emit(from_os(error, project.folder))
    session.project_changed.emit(project)
