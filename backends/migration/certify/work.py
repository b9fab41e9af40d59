"""The worker's part of a certificate: two copies, two rehearsals, one comparison."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from backends.common import child_run
from backends.common.rehearsal import read_operators, read_report
from backends.migration.certify import certificate, metric_rows, npu_check, operators, project_files, rehearsals
from backends.migration.certify.certificate import CERTIFICATE_FILE, Certificate, Check, Rehearsal
from backends.migration.certify.checks import (
    NO_NPU,
    Evidence,
    RehearsalOutcome,
    is_trained,
    make_checks,
    unproven_reasons,
)
from backends.migration.certify.copies import (
    COPIES_FOLDER,
    ProjectCopy,
    line_for_npu,
    line_in_copy,
    make_copies,
    relative_workdir,
)
from backends.migration.certify.file_edits import compare_files
from backends.migration.migrate.result_findings import settle_findings
from backends.migration.scan.facts.facts import facts_of_interpreter
from backends.migration.scan.overview import count_by_state
from backends.migration.scan.project_scan import scan_project
from studio import run as runs
from studio.errors import Stopped, StudioError
from studio.events import Artifact, Ended, Finding, Journal, Note, Progress, last_error
from studio.exit_codes import NO, STOPPED
from studio.security.secret_words import masked_words
from studio.supervisor import STOP

if TYPE_CHECKING:
    from backends.common.rehearsal import Report
    from backends.migration.certify.metric_rows import MetricRow
    from backends.migration.certify.spec import CertifySpec
    from studio.run import Glance, Run

STANCES = ("cuda", "npu")
REHEARSAL_NOTES = {"cuda": "migration.certify.rehearses_original", "npu": "migration.certify.rehearses_migrated"}
BFLOAT16_NOTE = "rehearsal.half_as_bfloat16"


def certify(spec: CertifySpec, run: Run) -> Ended:
    """Write artifacts/certificate.json and remove the copies. Raises StudioError and OSError."""
    folder = run.folder / COPIES_FOLDER
    child_run.end_child_run(run)
    try:
        return Certification(spec, run, folder).certify()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Certification:
    """One certificate in the making."""

    def __init__(self, spec: CertifySpec, run: Run, folder: Path) -> None:
        self.spec, self.run = spec, run
        self.tops = (spec.pair.original.resolve(), spec.pair.migrated.resolve())
        workdir = spec.training.workdir
        self.workdir = relative_workdir(workdir.resolve() if workdir.parts else Path(), *self.tops)
        self.copies = make_copies(self.tops[0], self.tops[1], folder, spec.training.linked)
        python = spec.training.python
        self.facts = facts_of_interpreter(python if python.parts else None, None)
        self.journal = Journal(run.folder, 1)
        self.rehearsals: list[Rehearsal] = []
        self.line = spec.training.line
        self.edits = compare_files(*self.tops)

    def certify(self) -> Ended:
        before = [project_files.file_stamps(copy.source, copy.excluded) for copy in self.copies]
        try:
            outcomes = [self.rehearse(self.copies[0], "cuda"), self.rehearse_migrated()]
            check, real = self.run_on_npu(outcomes[1])
        except Stopped:
            return Ended(code=STOPPED, reason="stopped")
        folders = [self.run.folder.parent / outcome.run for outcome in outcomes]
        traces = [outcome.report.traces if outcome.report else () for outcome in outcomes]
        evidence = Evidence(
            original=outcomes[0],
            migrated=self._with_project_paths(outcomes[1]),
            losses=metric_rows.compare_losses(*folders),
            gradients=metric_rows.compare_gradients(*traces),
            operators=operators.classify_operators(read_operators(folders[1]), self.facts.aten_class),
            written_file=self._find_written_file(before),
            on_npu=check,
        )
        return self.finish(self.make_certificate(evidence, real))

    def rehearse_migrated(self) -> RehearsalOutcome:
        """Rehearse the migrated project; where its training fails with the command as given, try again with the NPU's
        device names in it, as edited code may accept no other."""
        outcome = self.rehearse(self.copies[1], "npu")
        renamed = line_for_npu(self.line)
        if is_trained(outcome) or renamed == self.line or not self.edits:
            return outcome
        self.line = renamed
        del self.rehearsals[-1]
        return self.rehearse(self.copies[1], "npu")

    def rehearse(self, copy: ProjectCopy, stance: str) -> RehearsalOutcome:
        """Copy a project and rehearse it. Raises StudioError where there is nothing to rehearse, and Stopped."""
        self._note_progress(REHEARSAL_NOTES[stance], copy)
        copy.make(self.line)
        values = rehearsals.rehearsal_values(self.spec, stance, *self._line_in(copy))
        run, glance = self._run(rehearsals.REHEARSE_COMMAND, values, copy)
        report = read_report(run.folder)
        self.rehearsals.append(_rehearsal(run, glance, report))
        notes = runs.last_events(run.folder, 1 << 20)
        return RehearsalOutcome(
            run=run.name,
            code=glance.code,
            report=report,
            last_line=rehearsals.last_log_line(run.log),
            cuda_complaint=rehearsals.first_cuda_error(run.log),
            used_bfloat16=any(isinstance(note, Note) and note.key == BFLOAT16_NOTE for note in notes),
        )

    def _note_progress(self, key: str, copy: ProjectCopy) -> None:
        self.journal.write(Note(key=key, args={"folder": str(copy.source)}))
        self.journal.write(Progress(done=len(self.rehearsals), total=len(STANCES), phase="certify"))

    def _line_in(self, copy: ProjectCopy) -> tuple[tuple[str, ...], Path]:
        """Return the command and its working folder inside a copy. Raises StudioError."""
        workdir = copy.top / self.workdir
        if not workdir.is_dir():
            raise StudioError("migration.certify.no_folder", path=str(copy.source / self.workdir))
        return line_in_copy(self.line, copy, self.tops), workdir

    def _run(self, command: str, values: dict[str, Any], copy: ProjectCopy) -> tuple[Run, Glance]:
        run, glance = child_run.run_to_end(self.run, command, values, copy.top)
        if STOP.stop_requests or glance.reason == "stopped":
            raise Stopped
        error = last_error(runs.last_events(run.folder))
        if glance.reason == "failed_to_start" and error is not None:
            # A command that cannot start says nothing about either project.
            args = error.args
            if "path" in args:  # Name the user's file, not its copy, which is about to be removed.
                args = {**args, "path": str(copy.source / copy.project_path(str(args["path"])))}
            raise StudioError(error.rule, **args)
        return run, glance

    def run_on_npu(self, rehearsed: RehearsalOutcome) -> tuple[Check, tuple[MetricRow, ...]]:
        """Train on this host's NPU, where there is one and the rehearsal came to its end."""
        if rehearsed.code or not npu_check.has_npu():
            return NO_NPU, ()
        copy = self.copies[1]
        self._note_progress("migration.certify.runs_on_npu", copy)
        run, glance = self._run(
            npu_check.LAUNCH_COMMAND, npu_check.launch_values(self.spec, *self._line_in(copy)), copy
        )
        self.rehearsals.append(_rehearsal(run, glance, None))
        rows = metric_rows.compare_losses(self.run.folder.parent / rehearsed.run, run.folder)
        return npu_check.check_npu_run(run.name, glance.code, rows, rehearsals.last_log_line(run.log)), rows

    def _with_project_paths(self, outcome: RehearsalOutcome) -> RehearsalOutcome:
        """Replace paths of the copy, which is about to go, by those of the project."""
        if outcome.report is None:
            return outcome
        copy = self.copies[1]
        blocked = tuple(
            replace(blocked_call, path=copy.project_path(blocked_call.path)) for blocked_call in outcome.report.blocked
        )
        return replace(outcome, report=replace(outcome.report, blocked=blocked))

    def _find_written_file(self, before: list[dict[str, tuple[int, int]]]) -> str:
        """Return a file that changed since `before` in either project, "" where none did."""
        for copy, old in zip(self.copies, before, strict=True):
            new = project_files.file_stamps(copy.source, copy.excluded)
            if old != new:
                return str(copy.source / min(path for path in {*old, *new} if old.get(path) != new.get(path)))
        return ""

    def make_certificate(self, evidence: Evidence, real: tuple[MetricRow, ...]) -> Certificate:
        listed = make_checks(evidence)
        doubtful = {check.reason.args.get("run") for check in listed if check.state == "fail"} - {None}
        return Certificate(
            granted=certificate.is_granted(listed),
            original=str(self.tops[0]),
            migrated=str(self.tops[1]),
            line=masked_words(self.spec.training.line),
            migrated_line=masked_words(self.line),
            workdir=self.workdir.as_posix() if self.workdir.parts else "",
            seed=self.spec.proof.seed,
            checks=listed,
            rehearsals=tuple(self.rehearsals),
            before=self._states(self.tops[0]),
            after=self._states_of_result(self.tops[1]),
            edits=self.edits,
            losses=evidence.losses,
            gradients=evidence.gradients,
            on_npu=real,
            operators=evidence.operators,
            unproven=tuple(unproven_reasons(evidence)),
            precision=next((rehearsal.run for rehearsal in self.rehearsals if rehearsal.run in doubtful), ""),
        )

    def _states(self, top: Path) -> dict[str, int]:
        return count_by_state(scan_project(top, self.facts), "place")

    def _states_of_result(self, top: Path) -> dict[str, int]:
        """Count the findings of the migrated project as the migration itself does."""
        return count_by_state(settle_findings(top, scan_project(top, self.facts), "minimal"), "place")

    def finish(self, result: Certificate) -> Ended:
        """Write the certificate and the events that summarize it. Raises OSError."""
        certificate.write_certificate(self.run, result)
        self.journal.write(Artifact(kind="certificate", path=CERTIFICATE_FILE))
        with suppress(OSError):
            self.journal.write(Progress(done=len(STANCES), total=len(STANCES), phase="certify"))
            self.journal.write(*(_finding(check) for check in result.checks if check.state == "fail"))
            key = "migration.certify.granted" if result.granted else "migration.certify.refused"
            passed = sum(check.state == "pass" for check in result.checks)
            self.journal.write(Note(key=key, args={"passed": passed, "checks": len(result.checks)}))
        return Ended(code=0) if result.granted else Ended(code=NO, reason="no")


def _rehearsal(run: Run, glance: Glance, report: Report | None) -> Rehearsal:
    return Rehearsal(
        run=run.name,
        code=glance.code,
        steps=report.steps if report else 0,
        processes=report.processes if report else 0,
        seconds=round((glance.ended - glance.begun) / 1e9, 1),
        redirected=report.redirected if report else {},
    )


def _finding(check: Check) -> Finding:
    return Finding(
        rule=check.reason.key,
        severity="error",
        path=check.path,
        line=check.line,
        args=msgspec.to_builtins(check.reason.args),
    )
