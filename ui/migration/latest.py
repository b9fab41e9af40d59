"""The newest of a project's runs that ended: each is read once, off the UI thread."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from studio.errors import StudioError
from studio.run import outcome_of
from ui.asking import ask
from ui.migration.applied import read_applied
from ui.migration.results import read_opinion, read_proof, read_scan
from ui.past_runs import LIVE, ended_runs, failure_of

if TYPE_CHECKING:
    from pathlib import Path

    from studio.run import Glance, Run
    from ui.migration.applied import Applied
    from ui.migration.results import Scan
    from ui.session import Session


class Latest(QObject):
    """`scan_read`: its run and the Scan. `results_read`: the migration that was applied last, the newest certificate
    and the newest opinion of the official tool, each may be None."""

    scan_read = Signal(object, object)
    results_read = Signal(object, object, object)

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._scan: Path | None = None
        self._seen: tuple[Path, ...] = ()
        self._begun: set[str] = set()

    def forget(self) -> None:
        """Another project."""
        self._scan, self._seen = None, ()

    def expect(self, run: Run) -> None:
        """Why it failed is told, once."""
        self._begun.add(run.name)

    def look(self, listed: list[tuple[Run, Glance]]) -> None:
        self._tell_failures(listed)
        done = ended_runs(listed, "scan")
        if done and done[0].folder != self._scan:
            self.read_scan()
        self._look_at_results(listed)

    def read_scan(self) -> None:
        """The newest one, also when it was read before, and what the one before it had."""
        project, done = self._session.project, ended_runs(self._session.listed, "scan")
        if project is None or not done:
            return
        self._scan = done[0].folder
        before = done[1].folder if len(done) > 1 else None
        ask(self, partial(read_scan, project.folder, self._scan, before), partial(self._scan_read, done[0]))

    def _scan_read(self, run: Run, scan: Scan | StudioError) -> None:
        if run.folder != self._scan:
            return
        if isinstance(scan, StudioError):
            self._session.trouble.emit(scan)
        else:
            self.scan_read.emit(run, scan)

    def _tell_failures(self, listed: list[tuple[Run, Glance]]) -> None:
        for run, glance in listed:
            if run.name in self._begun and glance.state not in LIVE:
                self._begun.discard(run.name)
                if outcome_of(glance) in ("failed", "lost"):
                    self._session.trouble.emit(failure_of(run))

    def _look_at_results(self, listed: list[tuple[Run, Glance]]) -> None:
        migrations, proofs, opinions = (
            ended_runs(listed, command) for command in ("migrate", "certify", "second-opinion")
        )
        seen = tuple(run.folder for run in (*migrations, *proofs[:1], *opinions[:1]))
        if seen != self._seen:
            self._seen = seen
            ask(self, partial(_results, migrations, proofs[:1], opinions[:1]), partial(self._results_read, seen))

    def _results_read(self, seen: tuple[Path, ...], results: tuple[object, object, object]) -> None:
        if seen == self._seen:
            self.results_read.emit(*results)


def _results(migrations: list[Run], proofs: list[Run], opinions: list[Run]) -> tuple[Applied | None, object, object]:
    return read_applied(migrations), read_proof(proofs), read_opinion(opinions)
