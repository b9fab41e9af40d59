"""The newest finished runs of a project, each read once, off the UI thread."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from backends.migration.certify.standing import newest_standing
from backends.migration.compare_sides.runs_file import read_comparison_name
from studio.errors import StudioError
from studio.run import outcome_of
from ui.migration.run_results import read_newest_applied, read_newest_opinion, read_scan, with_training
from ui.services.background import run_in_background
from ui.services.past_runs import LIVE, ended_runs, failure_of

COMPARE_SIDES = "compare-migrated"

if TYPE_CHECKING:
    from pathlib import Path

    from studio.run import Glance, Run
    from ui.migration.run_results import AppliedMigration, Scan
    from ui.services.session import Session


class NewestResults(QObject):
    """`scan_read`: a run and its Scan. `results_read`: the newest applied migration, certificate and official opinion,
    each may be None. `sides_compared`: the run of a comparison of both sides that was asked for here."""

    scan_read = Signal(object, object)
    sides_compared = Signal(object)
    results_read = Signal(object, object, object)

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._scan: Path | None = None
        self._result_folders: tuple[Path, ...] = ()
        self._results: tuple[object, object, object] | None = None
        self._started_runs: set[str] = set()

    def forget(self) -> None:
        """Forget what was read, for another project."""
        self._scan, self._result_folders, self._results = None, (), None

    def report_failure_of(self, run: Run) -> None:
        """Report once why this run failed, if it does."""
        self._started_runs.add(run.name)

    def show_runs(self, listed: list[tuple[Run, Glance]]) -> None:
        """Read what these runs newly finished, and report how those that the page started ended."""
        self._report_ends(listed)
        scans = ended_runs(listed, "scan")
        if scans and scans[0].folder != self._scan:
            self.read_scan()
        self._read_results(listed)

    def read_scan(self) -> None:
        """Read the newest scan, even if it was read before, and compare it with the one before it."""
        project, scans = self._session.project, ended_runs(self._session.listed, "scan")
        if project is None or not scans:
            return
        self._scan = scans[0].folder
        before = scans[1].folder if len(scans) > 1 else None
        run_in_background(
            self, partial(read_scan, project.folder, self._scan, before), partial(self._scan_read, scans[0])
        )

    def _scan_read(self, run: Run, scan: Scan | StudioError) -> None:
        if run.folder != self._scan:
            return
        if isinstance(scan, StudioError):
            self._session.trouble.emit(scan)
        else:
            self.scan_read.emit(run, scan)

    def _report_ends(self, listed: list[tuple[Run, Glance]]) -> None:
        for run, glance in listed:
            if run.name in self._started_runs and glance.state not in LIVE:
                self._started_runs.discard(run.name)
                if outcome_of(glance) in ("failed", "lost"):
                    self._session.trouble.emit(failure_of(run))
                elif run.request.command == COMPARE_SIDES:
                    self._show_comparison(run, listed)

    def _show_comparison(self, run: Run, listed: list[tuple[Run, Glance]]) -> None:
        comparison = read_comparison_name(run)
        compared = next((other for other, _ in listed if other.name == comparison), None)
        if compared is not None:
            self.sides_compared.emit(compared)

    def _read_results(self, listed: list[tuple[Run, Glance]]) -> None:
        migrations, proofs, opinions = (
            ended_runs(listed, command) for command in ("migrate", "certify", "second-opinion")
        )
        folders = tuple(run.folder for run in (*migrations, *proofs[:1], *opinions[:1]))
        if folders != self._result_folders:
            self._result_folders = folders
            run_in_background(
                self, partial(_read_all, migrations, proofs, opinions[:1]), partial(self._results_read, folders)
            )

    def read_results_again(self) -> None:
        """Look again whether the certificate is in force: a file of either project may have changed."""
        self._result_folders = ()
        self._read_results(self._session.listed)

    def _results_read(self, folders: tuple[Path, ...], results: tuple[object, object, object]) -> None:
        if folders == self._result_folders and results != self._results:
            self._results = results
            self.results_read.emit(*results)


def _read_all(
    migrations: list[Run], proofs: list[Run], opinions: list[Run]
) -> tuple[AppliedMigration | None, object, object]:
    applied = read_newest_applied(migrations)
    target = applied.changes.target if applied is not None else ""
    standing = newest_standing(proofs, target)
    in_force = standing.certificate if standing is not None and standing.standing == "granted" else None
    return with_training(applied, in_force), standing, read_newest_opinion(opinions)
