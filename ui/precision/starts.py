"""The runs that the page starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from studio.errors import StudioError

if TYPE_CHECKING:
    from studio.run import Run
    from ui.session import Session


class Starts(QObject):
    """`begun`: a run of this page; why it failed is to be told once."""

    begun = Signal(object)

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session

    def begin(self, command: str, spec: Any) -> Run | None:
        """The run that the Curves page shows stays the one it was."""
        project, before = self._session.project, self._session.run
        if project is not None and not project.folder.is_dir():
            self._session.trouble.emit(StudioError("migration.rule.no_folder", path=str(project.folder)))
            return None
        run = self._session.start(command, spec)
        if run is not None:
            self.begun.emit(run)
            self._session.choose_run(before)
        return run
