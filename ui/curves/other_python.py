"""From a failed import to the same start with an interpreter of this host that has the module."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from backends.launch.own.python_choice import other_python
from studio.run import outcome_of
from ui.services.background import run_in_background
from ui.widgets.basic import button
from ui.widgets.labels import button_text
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtWidgets import QPushButton

    from backends.common.run_status import RunStatus
    from backends.launch.own.spec import OwnSpec
    from studio.run import Glance, Run
    from ui.services.session import Session

RULE = "explain.missing_module.cause"
WIDTH = 420


class OtherPythonWay:
    """A button that is visible where a module was missing and another interpreter has it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._asked = ""
        self._choice: tuple[Path, OwnSpec] | None = None
        self.button: QPushButton = button("", "curves.other_python")
        self.button.clicked.connect(self.start)
        self.button.hide()

    def show_status(self, run: Run, status: RunStatus, glance: Glance | None) -> None:
        """Look for an interpreter once for each failed run; the files of all of them are read in the background."""
        finding = status.last_finding(RULE)
        module = str(finding.args.get("module", "")) if finding else ""
        has_failed = glance is not None and outcome_of(glance) == "failed"
        question = f"{run.folder} {module}" if module and has_failed and self._is_of_project(run) else ""
        if question == self._asked:
            return
        self._asked, self._choice = question, None
        self.button.hide()
        if question:
            run_in_background(self.button, partial(other_python, run, module), partial(self._show, question))

    def _is_of_project(self, run: Run) -> bool:
        """A start is of the project that is open: it must be the one that the run was of."""
        project = self._session.project
        return run.request.project == (str(project.folder) if project is not None else "")

    def _show(self, question: str, choice: tuple[Path, OwnSpec] | None) -> None:
        if question == self._asked:
            self._choice = choice
            self.button.setVisible(choice is not None)
            self.retranslate()

    def retranslate(self) -> None:
        if self._choice is not None:
            name = button_text(self.button, str(self._choice[0]), WIDTH)
            localize(self.button.setText, "curves.other_python", python=name)
            self.button.setToolTip(str(self._choice[0]))

    def start(self) -> None:
        if self._choice is not None:
            self._session.start("script", self._choice[1])
