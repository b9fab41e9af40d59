"""From the run of a user's own program to the start that goes on from its newest whole checkpoint."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from backends.launch.own.resume.offer import may_resume, offer_for
from studio.errors import StudioError
from ui.services.background import run_in_background
from ui.widgets.basic import text_button
from ui.widgets.icons import show_icon
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtWidgets import QPushButton

    from backends.launch.own.resume.offer import Offer
    from studio.run import Glance, Run
    from ui.services.session import Session


class ResumeButton:
    """A button that is visible once a run is over that left something like a checkpoint. `is_answered`: whether that
    was looked for."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._question: Path | None = None
        self.is_answered = False
        self.button: QPushButton = text_button("launch.resume.button", "curves_resume")
        show_icon(self.button, "play", "accent", 16)
        localize(self.button.setToolTip, "launch.resume.button_hint")
        self.button.clicked.connect(self._open)
        self.button.hide()

    def show_run(self, run: Run, glance: Glance | None) -> None:
        """Look for checkpoints once for each run that is over, in the background."""
        is_over = glance is not None and may_resume(run, glance) and self._is_of_project(run)
        question = run.folder if is_over else None
        if question == self._question:
            return
        self._question, self.is_answered = question, False
        self.button.hide()
        if question is not None:
            run_in_background(self.button, partial(offer_for, question), partial(self._show, question))

    def _is_of_project(self, run: Run) -> bool:
        """A start is of the project that is open: it must be the one that the run was of."""
        project = self._session.project
        return run.request.project == (str(project.folder) if project is not None else "")

    def _show(self, question: Path, offer: Offer | StudioError) -> None:
        if question == self._question:
            self.is_answered = True
            self.button.setVisible(not isinstance(offer, StudioError) and not offer.is_empty)

    def _open(self) -> None:
        if self._question is not None:
            self._session.path_requested.emit("resume", self._question)
            self._session.page_requested.emit("launch")
