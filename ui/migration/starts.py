"""The runs that the page starts, and what is asked before."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from backends.launch.own import program
from backends.migration.certify.spec import CertifySpec, code_of
from backends.migration.migrate.spec import MigrateSpec
from backends.migration.official.spec import OfficialSpec
from studio import schema
from studio.errors import from_os
from ui.migration.apply_sheet import ApplySheet
from ui.migration.results import gone
from ui.migration.scan_options import ScanOptions
from ui.migration.targets import keep_decisions, spec_to_apply

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from backends.migration.scan.spec import ScanSpec
    from studio.run import Run
    from ui.pages.migration import MigrationPage


class Starts:
    def __init__(self, page: MigrationPage) -> None:
        self._page, self._session = page, page.session

    def begin(self, command: str, spec: Any) -> Run | None:
        """The run that the Curves page shows stays the one it was."""
        project, before = self._session.project, self._session.run
        if project is not None and not project.folder.is_dir():
            self._session.trouble.emit(gone(project.folder))
            return None
        run = self._session.start(command, spec)
        if run is not None:
            self._page.latest.expect(run)
            self._session.choose_run(before)
        return run

    def scan(self) -> None:
        if self._session.project is None:
            self._page.choose_folder()
        else:
            self.begin("scan", schema.with_value(self._page.spec, "path", self._session.project.folder))

    def ask_options(self) -> None:
        if self._session.project is not None:
            ScanOptions(self._page, self._page.spec, self._keep_options).show_below(self._page.again)

    def _keep_options(self, spec: ScanSpec) -> None:
        self._page.spec = spec
        self.scan()

    def ask_to_apply(self, to_branch: bool) -> None:
        """Where to, in a sheet; the plan's decisions go along in a file of the studio's own."""
        project, changes = self._session.project, self._page.changes
        if project is not None and changes.plan is not None:
            spec = spec_to_apply(project.folder, changes.wanted_style(), self._page.spec.against, to_branch=to_branch)
            count, field = len(changes.deciding.inside), "branch" if to_branch else "into"
            sheet = ApplySheet(self._page, spec, field, count, self.apply)
            sheet.show_below(changes.branch if to_branch else changes.apply)

    def apply(self, spec: MigrateSpec) -> None:
        """Only the hunks that are accepted, and as they are shown now."""
        try:
            decisions = keep_decisions(spec.migrated.path, self._page.changes.deciding.listed())
        except OSError as error:
            self._session.trouble.emit(from_os(error, error.filename or "decisions"))
            return
        spec = schema.with_value(spec, "accept", "listed")
        self.begin("migrate", schema.with_value(spec, "decisions", decisions))

    def undo(self, run: Path) -> None:
        self.begin("migrate", schema.with_value(MigrateSpec(), "undo", run))

    def ask_official(self) -> None:
        if self._session.project is not None:
            self.begin("second-opinion", schema.with_value(OfficialSpec(), "path", self._session.project.folder))

    def prove(self, spec: CertifySpec) -> None:
        """Runs code of the project: asks first where that is not trusted."""
        proof = self._page.proof
        if proof.consent.asks(partial(named_code, spec), partial(self.prove, spec)):
            proof.area.reveal(proof.consent)
        else:
            self.begin("certify", spec)


def named_code(spec: CertifySpec, folder: Path) -> tuple[Path, ...]:
    """What would run of a project; where the line names a script of it, that one and not the whole folder."""
    original = spec.pair.original
    script = original / (program.read(spec.training.line).script or "")
    return tuple(script if one == original and script.is_file() else one for one in code_of(spec, folder))
