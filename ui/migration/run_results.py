"""What the runs of a project produced for this page, read off the UI thread as findings.json may be large."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from backends.common.rehearsal import read_report
from backends.migration.finding import STATES
from backends.migration.migrate.changes import Changes
from backends.migration.migrate.spec import MigrateSpec
from backends.migration.official.opinion import Opinion
from backends.migration.scan.baseline import changes_since, read_findings
from backends.migration.scan.fingerprint import fingerprints
from backends.migration.scan.overview import Overview
from backends.migration.scan.suppressions import read_suppressions
from studio import files, schema
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.migration.certify.certificate import Certificate
    from backends.migration.finding import FindingState, ScanFinding
    from backends.migration.scan.spec import ScanSpec
    from studio.run import Glance, Run

FINDINGS_FILE, OVERVIEW_FILE = "artifacts/findings.json", "artifacts/overview.json"
OPINION_FILE = "artifacts/second-opinion.json"
CHANGES_FILE = "artifacts/changes.json"


@dataclass(frozen=True, kw_only=True)
class Scan:
    """A scan as the page shows it. `marks`: the fingerprint of each finding; `reasons`: why findings are suppressed,
    by fingerprint; `new`: how many the previous scan did not have; `done`: how many of that one are gone; both None
    without a previous scan."""

    run: Path
    findings: tuple[ScanFinding, ...]
    marks: tuple[str, ...]
    reasons: dict[str, str] = field(default_factory=dict)
    overview: Overview | None = None
    new: int | None = None
    done: int | None = None

    def suppressed_ids(self) -> set[int]:
        """Return the `id()` of each suppressed finding."""
        pairs = zip(self.findings, self.marks, strict=True)
        return {id(finding) for finding, mark in pairs if mark in self.reasons}

    def open_findings(self) -> tuple[ScanFinding, ...]:
        """Return the findings that are not suppressed."""
        pairs = zip(self.findings, self.marks, strict=True)
        return tuple(finding for finding, mark in pairs if mark not in self.reasons)

    def fingerprint_of(self, finding: ScanFinding) -> str:
        return next(mark for candidate, mark in zip(self.findings, self.marks, strict=True) if candidate is finding)


def read_scan(project: Path, run: Path, before: Path | None) -> Scan | StudioError:
    """Read a scan. `before`: the run of the previous scan of the same project."""
    try:
        findings = read_findings(run / FINDINGS_FILE)
    except StudioError as error:
        return error
    scan = Scan(
        run=run,
        findings=findings,
        marks=fingerprints(findings),
        reasons=read_suppressions(project),
        overview=read_overview(run),
    )
    try:
        earlier = read_findings(before / FINDINGS_FILE) if before else None
    except StudioError:
        earlier = None
    if earlier is None:
        return scan
    changed = changes_since(earlier, findings)
    return replace(scan, new=len(changed.new), done=len(changed.done))


def read_overview(run: Path) -> Overview | None:
    """Read a run's overview; None where it is missing, damaged or written by a newer version: findings are shown
    without it."""
    try:
        return msgspec.json.decode(files.read_bytes(run / OVERVIEW_FILE), type=Overview)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def rescan(project: Path, spec: ScanSpec, last: Scan) -> Scan | StudioError:
    """Scan again after a file was saved, reading only what changed; the result is not written into the run."""
    if not project.is_dir():
        return missing_folder(project)
    from backends.migration.scan.overview import make_overview
    from backends.migration.scan.project_scan import survey_project
    from backends.migration.scan.work import facts_of

    facts, reasons = facts_of(spec), read_suppressions(project)
    survey_result = survey_project(project, facts)
    scan = Scan(
        run=last.run,
        findings=survey_result.findings,
        marks=fingerprints(survey_result.findings),
        reasons=reasons,
        overview=make_overview(project, survey_result, facts, reasons),
    )
    try:
        changed = changes_since(read_findings(last.run / FINDINGS_FILE), survey_result.findings)
    except StudioError:
        return scan
    return replace(scan, new=len(changed.new), done=len(changed.done))


def missing_folder(project: Path) -> StudioError:
    """Return the error for a project whose folder is gone; without it a scan would find nothing to do."""
    return StudioError("migration.rule.no_folder", path=str(project))


def count_states(findings: Iterable[ScanFinding]) -> dict[FindingState, int]:
    """Count the findings of each state, without advice."""
    counts = dict.fromkeys(STATES, 0)
    for finding in findings:
        if finding.is_counted:
            counts[finding.state] += 1
    return counts


def newest_run(listed: list[tuple[Run, Glance]], commands: Iterable[str]) -> tuple[Run, Glance] | None:
    """Return the first run of one of these commands."""
    names = tuple(commands)
    return next(((run, glance) for run, glance in listed if run.request.command in names), None)


def read_newest_opinion(runs: list[Run]) -> Opinion | None:
    """Read the opinion of the first run; None where it is missing or damaged."""
    try:
        return msgspec.json.decode(files.read_bytes(runs[0].folder / OPINION_FILE), type=Opinion) if runs else None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


@dataclass(frozen=True, kw_only=True)
class AppliedMigration:
    """A migration whose result was written. `run`: the folder of its run; `has_trained`: whether the newest certificate
    is granted for this result and had it train on the virtual NPU."""

    run: Path
    changes: Changes
    has_trained: bool = False

    @property
    def destination(self) -> str:
        """The folder of the copy, or the name of the branch."""
        return self.changes.target or self.changes.branch


def migrate_spec_of(run: Run) -> MigrateSpec:
    return schema.from_json(MigrateSpec, run.request.values)[0]


def read_newest_applied(runs: list[Run]) -> AppliedMigration | None:
    """Return the newest migration that wrote something and was not undone. `runs`: successful migrations, newest
    first."""
    undone = {migrate_spec_of(run).result.undo for run in runs}
    for run in runs:
        if run.folder in undone or migrate_spec_of(run).result.undo != Path():
            continue
        try:
            changes = msgspec.json.decode(files.read_bytes(run.folder / CHANGES_FILE), type=Changes)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        if changes.target or changes.branch:
            return AppliedMigration(run=run.folder, changes=changes)
    return None


def with_training(applied: AppliedMigration | None, proof: Certificate | None) -> AppliedMigration | None:
    """Return the migration with what a certificate says of its result."""
    if applied is None or proof is None or not proof.granted or not applied.changes.target:
        return applied
    if Path(proof.migrated).resolve() != Path(applied.changes.target).resolve():
        return applied
    reports = (read_report(applied.run.parent / rehearsal.run) for rehearsal in proof.rehearsals if rehearsal.run)
    has_trained = any(report is not None and report.is_virtual and report.steps > 0 for report in reports)
    return replace(applied, has_trained=has_trained)


def last_command_line(listed: list[tuple[Run, Glance]]) -> tuple[str, ...]:
    """Return the command that was run last, preferably for a certificate; () where there was none."""
    certify_runs = [run for run, _ in listed if run.request.command == "certify"]
    lines = (_command_line_of(run) for run in (*certify_runs, *(run for run, _ in listed)))
    return next((line for line in lines if line), ())


def _command_line_of(run: Run) -> tuple[str, ...]:
    cards = [card for card in run.request.values.values() if isinstance(card, dict)]
    line: list[object] = next((card["line"] for card in cards if isinstance(card.get("line"), list)), [])
    return tuple(map(str, line))
