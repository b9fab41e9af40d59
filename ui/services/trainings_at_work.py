"""The trainings of this user that are at work, of whichever project: one that was started is never out of sight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from backends import features
from studio import run as runs
from studio.errors import StudioError
from studio.project import project_of
from studio.security import ledger
from ui.services.background import run_in_background

if TYPE_CHECKING:
    from studio.run import Run
    from ui.services.session import Session

EVERY_MS = 3000
MAX_RUNS = 40  # starts that are looked at, the newest first


class TrainingsAtWork(QObject):
    """`changed`: the trainings at work, newest first. They are looked for in the background, also after each change of
    the project and of its runs."""

    changed = Signal(list)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.runs: list[Run] = []
        self._is_looking = False
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.look)
        session.project_changed.connect(lambda _project: self.look())
        session.runs_changed.connect(lambda _listed: self.look())

    def begin(self) -> None:
        self.look()
        self._timer.start(EVERY_MS)

    def look(self) -> None:
        if not self._is_looking:
            self._is_looking = True
            run_in_background(self, trainings_at_work, self._show)

    def _show(self, at_work: list[Run]) -> None:
        self._is_looking = False
        if [run.folder for run in at_work] != [run.folder for run in self.runs]:
            self.runs = at_work
            self.changed.emit(at_work)


def trainings_at_work() -> list[Run]:
    """Return the trainings that this user started and that are at work, newest first. Not for the UI thread."""
    names = {action.name for feature in features() for action in feature.actions if action.is_training}
    at_work = []
    for folder in ledger.newest_folders(MAX_RUNS):
        try:
            run = runs.open_run(folder)
        except StudioError:
            continue
        if run.request.command in names and runs.is_at_work(runs.glance(run)):
            at_work.append(run)
    return at_work


def show_training(session: Session, run: Run) -> None:
    """Open the project of a run, if another is open, and show the run."""
    if not session.is_listed(run):
        project = project_of(run.folder)
        session.open_project(project.folder if project is not None else None)
    session.watch_run(run)
