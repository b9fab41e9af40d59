"""Starts the runs of the page, after asking what they need."""

from __future__ import annotations

import hashlib
import os
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

from backends.common import program_line
from backends.migration.certify.spec import CertifySpec, code_of
from backends.migration.compare_sides.spec import sides_of
from backends.migration.migrate.spec import Migrated, MigrateSpec, Result
from backends.migration.official.spec import OfficialSpec
from studio import files, paths, schema
from studio.errors import from_os
from ui.migration.run_results import missing_folder
from ui.migration.start_sheets import ApplySheet, ScanSheet
from ui.services.background import run_in_background

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from backends.migration.migrate.changes import Decisions, Style
    from backends.migration.scan.spec import Against, ScanSpec
    from studio.run import Run
    from ui.migration.page import MigrationPage

DEFAULT_BRANCH = "npu"


class RunStarter:
    """Starts runs for the page."""

    def __init__(self, page: MigrationPage) -> None:
        self._page, self._session = page, page.session

    def start_run(self, command: str, spec: Any) -> Run | None:
        """Start a run without changing the one that the Curves page shows."""
        project, before = self._session.project, self._session.run
        if project is not None and not project.folder.is_dir():
            self._session.trouble.emit(missing_folder(project.folder))
            return None
        run = self._session.start(command, spec)
        if run is not None:
            self._page.newest.report_failure_of(run)
            self._session.choose_run(before)
        return run

    def start_scan(self) -> None:
        if self._session.project is None:
            self._page.choose_folder()
        else:
            self.start_run("scan", schema.with_value(self._page.spec, "path", self._session.project.folder))

    def show_scan_sheet(self) -> None:
        if self._session.project is not None:
            ScanSheet(self._page, self._page.spec, self._scan_with).show_below(self._page.again)

    def _scan_with(self, spec: ScanSpec) -> None:
        self._page.spec = spec
        self.start_scan()

    def show_apply_sheet(self, to_branch: bool) -> None:
        """Ask where the result goes; the decisions are handed over in a file of ours."""
        project, changes = self._session.project, self._page.changes
        if project is not None and changes.plan is not None:
            style, against = changes.header.plan_style, self._page.spec.against
            question = partial(spec_to_apply, project.folder, style, against, to_branch=to_branch)
            run_in_background(self._page, question, partial(self._show_apply_sheet, to_branch))

    def _show_apply_sheet(self, to_branch: bool, spec: MigrateSpec) -> None:
        project, changes = self._session.project, self._page.changes
        if project is not None and project.folder == spec.migrated.path and changes.plan is not None:
            count, field = len(changes.decisions.accepted), "branch" if to_branch else "into"
            sheet = ApplySheet(self._page, spec, field, count, self.start_apply)
            sheet.show_below(changes.branch if to_branch else changes.apply)

    def start_apply(self, spec: MigrateSpec) -> None:
        """Apply only the accepted hunks, exactly as they are visible now."""
        try:
            decisions = write_decisions(spec.migrated.path, self._page.changes.decisions.listed_decisions())
        except OSError as error:
            self._session.trouble.emit(from_os(error, error.filename or "decisions"))
            return
        spec = schema.with_value(spec, "accept", "listed")
        self.start_run("migrate", schema.with_value(spec, "decisions", decisions))

    def start_undo(self, run: Path) -> None:
        self.start_run("migrate", schema.with_value(MigrateSpec(), "undo", run))

    def start_opinion(self) -> None:
        if self._session.project is not None:
            self.start_run("second-opinion", schema.with_value(OfficialSpec(), "path", self._session.project.folder))

    def start_proof(self, spec: CertifySpec) -> None:
        self._start_pair("certify", spec, spec)

    def start_sides(self, spec: CertifySpec) -> None:
        """Capture both sides of a certificate and compare them; the comparison is shown when it is there."""
        self._start_pair("compare-migrated", spec, sides_of(spec))

    def _start_pair(self, command: str, spec: CertifySpec, started: Any) -> None:
        """Start what runs code of the project; ask first where that is not trusted."""
        proof = self._page.proof
        if proof.consent.asks(partial(code_to_trust, spec), partial(self._start_pair, command, spec, started)):
            proof.area.reveal(proof.consent)
        else:
            self.start_run(command, started)


def code_to_trust(spec: CertifySpec, folder: Path) -> tuple[Path, ...]:
    """Return what a proof would run; where the command names a script of the project, that script instead of its whole
    folder."""
    original = spec.pair.original
    script = original / (program_line.parse_program_line(spec.training.line).script or "")
    return tuple(script if path == original and script.is_file() else path for path in code_of(spec, folder))


def free_folder(project: Path) -> Path:
    """Return '<project>-npu' next to the project, with a number where that exists."""
    names = (f"{project.name}-npu", *(f"{project.name}-npu-{number}" for number in range(2, 100)))
    return next((project.parent / name for name in names if not (project.parent / name).exists()), project.parent)


def free_branch(project: Path) -> str:
    """Return 'npu', with a number where such a branch exists as a loose ref. The run asks git itself."""
    heads = project / ".git" / "refs" / "heads"
    if not (heads / DEFAULT_BRANCH).exists():
        return DEFAULT_BRANCH
    return next(
        f"{DEFAULT_BRANCH}-{number}" for number in count(2) if not (heads / f"{DEFAULT_BRANCH}-{number}").exists()
    )


def spec_to_apply(project: Path, style: Style, against: Against, *, to_branch: bool) -> MigrateSpec:
    """Return the spec of a migration with a free folder or branch filled in."""
    result = Result(branch=free_branch(project)) if to_branch else Result(into=free_folder(project))
    return MigrateSpec(migrated=Migrated(path=project, style=style), result=result, against=against)


def write_decisions(project: Path, decisions: Decisions) -> Path:
    """Write the decisions for a run of `migrate` and return the file's path; each project has one, which is
    overwritten. Raises OSError."""
    key = hashlib.blake2b(os.fsencode(project), digest_size=10).hexdigest()
    path = paths.state_home() / "migration" / f"{key}-decisions.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write_json(path, decisions)
    return path
