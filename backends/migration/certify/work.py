"""The worker's part of a certificate: copies, the rehearsals that are needed, and their comparison."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

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
    not_run_reasons,
    unproven_reasons,
)
from backends.migration.certify.contracts.comparison import compare_contracts
from backends.migration.certify.contracts.record import (
    ran_lines,
    read_contracts,
    seen_calls,
    training_contracts,
    with_project_paths,
)
from backends.migration.certify.copies import (
    COPIES_FOLDER,
    line_for_cpu,
    line_for_npu,
)
from backends.migration.certify.file_edits import compare_files
from backends.migration.certify.folder_digest import digest_folder
from backends.migration.certify.leftovers import Observed, find_leftovers, unrun_edits
from backends.migration.certify.line_map import edited_lines, migrated_line
from backends.migration.certify.pair_runs import PairRuns
from backends.migration.certify.promise import check_cpu, check_gpu, promises_all_hosts
from backends.migration.migrate.result_findings import settle_findings
from backends.migration.scan.facts.facts import facts_of_interpreter
from backends.migration.scan.overview import count_open_places
from backends.migration.scan.project_scan import scan_project
from backends.migration.scan.suppressions import read_suppressions
from studio import run as runs
from studio.errors import Stopped
from studio.events import Artifact, Ended, Finding, Journal, Note, Progress
from studio.exit_codes import NO, STOPPED
from studio.security.secret_words import masked_words

if TYPE_CHECKING:
    from pathlib import Path

    from backends.common.rehearsal import Report, Step
    from backends.migration.certify.copies import ProjectCopy
    from backends.migration.certify.folder_digest import FolderDigest
    from backends.migration.certify.metric_rows import MetricRow
    from backends.migration.certify.spec import CertifySpec
    from studio.run import Glance, Run

EXPECTED = 2
"""Rehearsals of a certificate where nothing asks for more."""
REHEARSAL_NOTES = {
    ("cuda", True): "migration.certify.rehearses_original", ("npu", False): "migration.certify.rehearses_migrated",
    ("cuda", False): "migration.certify.rehearses_on_gpu", ("cpu", False): "migration.certify.rehearses_on_cpu",
    ("cpu", True): "migration.certify.rehearses_original_on_cpu",
}  # fmt: skip
BFLOAT16_NOTE = "rehearsal.half_as_bfloat16"


def certify(spec: CertifySpec, run: Run) -> Ended:
    """Write artifacts/certificate.json and remove the copies. Raises StudioError and OSError."""
    folder = run.folder / COPIES_FOLDER
    child_run.end_child_run(run)
    try:
        return Certification(spec, run, folder).certify()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Certification(PairRuns):
    """One certificate in the making."""

    def __init__(self, spec: CertifySpec, run: Run, folder: Path) -> None:
        super().__init__(spec, run, folder)
        self.spec = spec
        python = spec.training.python
        self.facts = facts_of_interpreter(python if python.parts else None, None)
        self.journal = Journal(run.folder, 1)
        self.rehearsals: list[Rehearsal] = []
        self.edits = compare_files(*self.tops)
        self.after: dict[str, int] = {}

    def certify(self) -> Ended:
        before = [project_files.file_stamps(copy.source, copy.excluded) for copy in self.copies]
        folders = tuple(digest_folder(copy.source, copy.excluded) for copy in self.copies)
        try:
            original = self.rehearse(self.copies[0], "cuda")
            migrated = self.rehearse_migrated()
            numbers = self.rehearse_alike(original, migrated)
            hosts = self.rehearse_promised_hosts(original, migrated)
            check, real = self.run_on_npu(migrated)
        except Stopped:
            return Ended(code=STOPPED, reason="stopped")
        evidence = self.gather(original, migrated, numbers)
        evidence = replace(evidence, hosts=hosts, written_file=self._find_written_file(before), on_npu=check)
        return self.finish(self.make_certificate(evidence, real, folders))

    def gather(self, original: RehearsalOutcome, migrated: RehearsalOutcome, numbers: RehearsalOutcome) -> Evidence:
        """Compare what the rehearsals left."""
        is_other = numbers is not migrated
        findings = settle_findings(self.tops[1], scan_project(self.tops[1], self.facts), "minimal")
        self.after = count_open_places(findings, self._suppressed(self.tops[1]))
        ran = ran_lines(migrated.contracts)
        observed = Observed(lines=ran, calls=seen_calls(migrated.contracts))
        return Evidence(
            original=original,
            migrated=self._with_project_paths(migrated),
            numbers=numbers if is_other else None,
            losses=self._losses(original, numbers),
            gradients=metric_rows.compare_gradients(_traces(original), _traces(numbers)),
            virtual_losses=self._losses(numbers, migrated) if is_other else (),
            contracts=self._compare_contracts(original, numbers, migrated),
            leftovers=find_leftovers(self.tops[1], findings, observed, self.line),
            unrun_edits=unrun_edits(self.tops[1], edited_lines(*self.tops, self.edits), ran) if ran else {},
            operators=operators.classify_operators(read_operators(self._folder(migrated)), self.facts.aten_class),
        )

    def _folder(self, outcome: RehearsalOutcome) -> Path:
        return self.run.folder.parent / outcome.run

    def _losses(self, first: RehearsalOutcome, second: RehearsalOutcome) -> tuple[MetricRow, ...]:
        return metric_rows.compare_losses(self._folder(first), self._folder(second))

    def _compare_contracts(
        self, original: RehearsalOutcome, numbers: RehearsalOutcome, on_device: RehearsalOutcome
    ) -> tuple[Check, ...]:
        before, after, device = (training_contracts(outcome.contracts) for outcome in (original, numbers, on_device))
        return compare_contracts(before, after, device, partial(migrated_line, *self.tops))

    def rehearse_migrated(self) -> RehearsalOutcome:
        """Rehearse the migrated project; where its training fails with the command as given, try again with the NPU's
        device names in it, as edited code may accept no other."""
        outcome = self._rehearse_as_npu()
        renamed = line_for_npu(self.line)
        if is_trained(outcome) or renamed == self.line or not self.edits:
            return outcome
        self.line = renamed
        del self.rehearsals[1:]
        return self._rehearse_as_npu()

    def _rehearse_as_npu(self) -> RehearsalOutcome:
        """Rehearse on the virtual NPU where PyTorch can; on the CPU alone where that came upon what only the virtual
        NPU cannot do."""
        outcome = self.rehearse(self.copies[1], "npu")
        if not (outcome.code and outcome.limit):
            return outcome
        return replace(self.rehearse(self.copies[1], "npu", npu_device="cpu"), limit=outcome.limit)

    def rehearse_alike(self, original: RehearsalOutcome, migrated: RehearsalOutcome) -> RehearsalOutcome:
        """Return the rehearsal whose numbers are compared to the bit. The virtual NPU takes float16 and operators as a
        card does; where its numbers are others than the original's, the result is rehearsed on the CPU too."""
        if not migrated.is_virtual or not is_trained(migrated):
            return migrated
        losses = self._losses(original, migrated)
        gradients = metric_rows.compare_gradients(_traces(original), _traces(migrated))
        if metric_rows.first_difference((*losses, *gradients)) is None:
            return migrated
        return self.rehearse(self.copies[1], "npu", npu_device="cpu")

    def rehearse_promised_hosts(self, original: RehearsalOutcome, migrated: RehearsalOutcome) -> tuple[Check, ...]:
        """Rehearse the result on the other hosts that it promises to run on."""
        if not is_trained(migrated) or not promises_all_hosts(self.spec.proof.promise, self.tops[1], self.run):
            return ()
        on_gpu = self.rehearse(self.copies[1], "cuda", line=self.spec.training.line)
        cpu_line = line_for_cpu(self.spec.training.line)
        on_cpu = self.rehearse(self.copies[1], "cpu", line=cpu_line)
        original_on_cpu = None if is_trained(on_cpu) else self.rehearse(self.copies[0], "cpu", line=cpu_line)
        contracts = self._compare_contracts(original, on_gpu, on_gpu)
        gpu = check_gpu(self._with_project_paths(on_gpu), self._losses(original, on_gpu), contracts)
        return gpu, check_cpu(self._with_project_paths(on_cpu), original_on_cpu)

    def rehearse(
        self, copy: ProjectCopy, stance: str, npu_device: str = "auto", line: tuple[str, ...] = ()
    ) -> RehearsalOutcome:
        """Copy a project and rehearse it. `line`: another command than that of both. Raises StudioError where there is
        nothing to rehearse, and Stopped."""
        self._note_progress(REHEARSAL_NOTES[stance, copy is self.copies[0]], copy)
        copy.make(line or self.line)
        values = rehearsals.rehearsal_values(self.spec, stance, *self.line_in(copy, line or self.line), npu_device)
        run, glance = self.run_in(copy, rehearsals.REHEARSE_COMMAND, values)
        report = read_report(run.folder)
        self.rehearsals.append(_rehearsal(run, glance, report))
        return outcome_of_rehearsal(run, glance.code, report, copy)

    def _note_progress(self, key: str, copy: ProjectCopy) -> None:
        self.journal.write(Note(key=key, args={"folder": str(copy.source)}))
        done = len(self.rehearsals)
        self.journal.write(Progress(done=done, total=max(EXPECTED, done + 1), phase="certify"))

    def run_on_npu(self, rehearsed: RehearsalOutcome) -> tuple[Check, tuple[MetricRow, ...]]:
        """Train on this host's NPU, where there is one and the rehearsal came to its end."""
        if rehearsed.code or not npu_check.has_npu():
            return NO_NPU, ()
        copy = self.copies[1]
        self._note_progress("migration.certify.runs_on_npu", copy)
        run, glance = self.run_in(
            copy, npu_check.LAUNCH_COMMAND, npu_check.launch_values(self.spec, *self.line_in(copy, self.line))
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

    def make_certificate(
        self, evidence: Evidence, real: tuple[MetricRow, ...], folders: tuple[FolderDigest, ...]
    ) -> Certificate:
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
            after=self.after,
            edits=self.edits,
            losses=evidence.losses,
            gradients=evidence.gradients,
            on_npu=real,
            operators=evidence.operators,
            not_run=tuple(not_run_reasons(evidence)),
            unproven=tuple(unproven_reasons(evidence)),
            folders=folders,
            precision=next((rehearsal.run for rehearsal in self.rehearsals if rehearsal.run in doubtful), ""),
        )

    def _states(self, top: Path) -> dict[str, int]:
        return count_open_places(scan_project(top, self.facts), self._suppressed(top))

    def _suppressed(self, top: Path) -> dict[str, str]:
        """Return what a project suppresses, and what was suppressed in the original: the result has it as well."""
        return read_suppressions(self.tops[0]) | read_suppressions(top)

    def finish(self, result: Certificate) -> Ended:
        """Write the certificate and the events that summarize it. Raises OSError."""
        certificate.write_certificate(self.run, result)
        self.journal.write(Artifact(kind="certificate", path=CERTIFICATE_FILE))
        with suppress(OSError):
            self.journal.write(Progress(done=len(self.rehearsals), total=len(self.rehearsals), phase="certify"))
            self.journal.write(*(_finding(check) for check in result.checks if check.state == "fail"))
            key = "migration.certify.granted" if result.granted else "migration.certify.refused"
            passed = sum(check.state == "pass" for check in result.checks)
            self.journal.write(Note(key=key, args={"passed": passed, "checks": len(result.checks)}))
        return Ended(code=0) if result.granted else Ended(code=NO, reason="no")


def outcome_of_rehearsal(run: Run, code: int | None, report: Report | None, copy: ProjectCopy) -> RehearsalOutcome:
    """Return what a rehearsal left in its run's folder."""
    notes = runs.last_events(run.folder, 1 << 20)
    return RehearsalOutcome(
        run=run.name,
        code=code,
        report=report,
        last_line=rehearsals.last_log_line(run.log),
        cuda_complaint=rehearsals.first_cuda_error(run.log),
        limit=rehearsals.virtual_limit(run.log),
        used_bfloat16=any(isinstance(note, Note) and note.key == BFLOAT16_NOTE for note in notes),
        contracts=with_project_paths(read_contracts(run.folder), copy.project_path),
    )


def _traces(outcome: RehearsalOutcome) -> tuple[tuple[Step, ...], ...]:
    return outcome.report.traces if outcome.report else ()


def _rehearsal(run: Run, glance: Glance, report: Report | None) -> Rehearsal:
    return Rehearsal(
        run=run.name,
        stance=report.stance if report else "",
        device=report.device if report else "",
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
