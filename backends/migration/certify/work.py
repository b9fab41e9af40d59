"""A certificate, in the worker: two copies, two rehearsals, one comparison."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from backends.common import beside, ends
from backends.common.rehearsal import read_operators, read_report
from backends.migration.certify import certificate, inventory, numbers, on_npu, rehearsing, said, tree
from backends.migration.certify.certificate import FILE, Certificate, Check, Rehearsal
from backends.migration.certify.checks import NO_NPU, Evidence, Left, checks, is_trained, unproven
from backends.migration.certify.copies import FOLDER, Copy, copies, line_for_npu, line_in, relative_place
from backends.migration.certify.edits import edits
from backends.migration.migrate.plan import settled
from backends.migration.scan.facts.facts import facts_for
from backends.migration.scan.overview import per_state
from backends.migration.scan.scan import scan
from studio import run as runs
from studio.errors import StudioError
from studio.events import Artifact, Ended, Finding, Journal, Note, Progress
from studio.supervisor import STOP

if TYPE_CHECKING:
    from backends.common.rehearsal import Report
    from backends.migration.certify.numbers import Row
    from backends.migration.certify.spec import CertifySpec
    from studio.run import Glance, Run

NO = 3  # done, and the answer is no
STOPPED = 128 + 15
STANCES = ("cuda", "npu")
TOLD = {"cuda": "migration.certify.rehearses_original", "npu": "migration.certify.rehearses_migrated"}
HALVED = "rehearsal.half_as_bfloat16"


def certify(spec: CertifySpec, run: Run) -> Ended:
    """Leaves artifacts/certificate.json; the copies are gone then. Raises StudioError and OSError."""
    folder = run.folder / FOLDER
    beside.end_begun(run)
    try:
        return Certifying(spec, run, folder).certify()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Stopped(Exception):
    """The worker was asked to stop."""


class Certifying:
    def __init__(self, spec: CertifySpec, run: Run, folder: Path) -> None:
        self.spec, self.run = spec, run
        self.tops = (spec.pair.original.resolve(), spec.pair.migrated.resolve())
        workdir = spec.training.workdir
        self.place = relative_place(workdir.resolve() if workdir.parts else Path(), *self.tops)
        self.copies = copies(self.tops[0], self.tops[1], folder, spec.training.linked)
        python = spec.training.python
        self.facts = facts_for(python if python.parts else None, None)
        self.journal = Journal(run.folder, 1)
        self.rehearsals: list[Rehearsal] = []
        self.line = spec.training.line
        self.edits = edits(*self.tops)

    def certify(self) -> Ended:
        before = [tree.stamps(copy.source, copy.without) for copy in self.copies]
        try:
            left = [self.rehearse(self.copies[0], "cuda"), self.migrated()]
            check, real = self.on_npu(left[1])
        except Stopped:
            return Ended(code=STOPPED, reason="stopped")
        folders = [self.run.folder.parent / one.run for one in left]
        evidence = Evidence(
            original=left[0],
            migrated=self._placed(left[1]),
            losses=numbers.losses(*folders),
            gradients=numbers.gradients(*(one.report.traces if one.report else () for one in left)),
            operators=inventory.operators(read_operators(folders[1]), self.facts.aten_class),
            written=self._written(before),
            on_npu=check,
        )
        return self.tell(self.made(evidence, real))

    def migrated(self) -> Left:
        """Code, scripts and configuration call the device one name: what was edited may take no other in its line."""
        found = self.rehearse(self.copies[1], "npu")
        renamed = line_for_npu(self.line)
        if is_trained(found) or renamed == self.line or not self.edits:
            return found
        self.line = renamed
        del self.rehearsals[-1]
        return self.rehearse(self.copies[1], "npu")

    def rehearse(self, copy: Copy, stance: str) -> Left:
        """Raises StudioError where there is nothing to rehearse, and Stopped."""
        self._say(TOLD[stance], copy)
        copy.make(self.line)
        asked = rehearsing.values(self.spec, stance, *self._line_in(copy))
        run, glance = self._run(rehearsing.COMMAND, asked, copy)
        report = read_report(run.folder)
        self.rehearsals.append(_told(run, glance, report))
        notes = runs.last_events(run.folder, 1 << 20)
        return Left(
            run=run.name,
            code=glance.code,
            report=report,
            said=said.last_line(run.log),
            complaint=said.cuda_error(run.log),
            halved=any(isinstance(one, Note) and one.key == HALVED for one in notes),
        )

    def _say(self, key: str, copy: Copy) -> None:
        self.journal.write(Note(key=key, args={"folder": str(copy.source)}))
        self.journal.write(Progress(done=len(self.rehearsals), total=len(STANCES), phase="certify"))

    def _line_in(self, copy: Copy) -> tuple[tuple[str, ...], Path]:
        """The line and where it starts, in a copy. Raises StudioError."""
        workdir = copy.top / self.place
        if not workdir.is_dir():
            raise StudioError("migration.certify.no_folder", path=str(copy.source / self.place))
        return line_in(self.line, copy, self.tops), workdir

    def _run(self, command: str, asked: dict[str, Any], copy: Copy) -> tuple[Run, Glance]:
        run, glance = beside.run_to_end(self.run, command, asked, copy.top)
        if STOP.asked or glance.reason == "stopped":
            raise Stopped
        error = ends.last_error(runs.last_events(run.folder))
        if glance.reason == "failed_to_start" and error is not None:
            # A line that no shell would start says nothing of either project.
            args = error.args
            if "path" in args:  # where the user has it, not in the copy that is about to go
                args = {**args, "path": str(copy.source / copy.place_of(str(args["path"])))}
            raise StudioError(error.rule, **args)
        return run, glance

    def on_npu(self, rehearsed: Left) -> tuple[Check, tuple[Row, ...]]:
        """On this host's NPU, where it has one and the rehearsal has come to its end."""
        if rehearsed.code or not on_npu.is_here():
            return NO_NPU, ()
        copy = self.copies[1]
        self._say("migration.certify.runs_on_npu", copy)
        run, glance = self._run(on_npu.COMMAND, on_npu.values(self.spec, *self._line_in(copy)), copy)
        self.rehearsals.append(_told(run, glance, None))
        rows = numbers.losses(self.run.folder.parent / rehearsed.run, run.folder)
        return on_npu.check(run.name, glance.code, rows, said.last_line(run.log)), rows

    def _placed(self, left: Left) -> Left:
        """With places in the project, not in its copy that is about to go."""
        if left.report is None:
            return left
        copy = self.copies[1]
        blocked = tuple(replace(one, path=copy.place_of(one.path)) for one in left.report.blocked)
        return replace(left, report=replace(left.report, blocked=blocked))

    def _written(self, before: list[dict[str, tuple[int, int]]]) -> str:
        for copy, old in zip(self.copies, before, strict=True):
            new = tree.stamps(copy.source, copy.without)
            if old != new:
                return str(copy.source / min(path for path in {*old, *new} if old.get(path) != new.get(path)))
        return ""

    def made(self, found: Evidence, real: tuple[Row, ...]) -> Certificate:
        listed = checks(found)
        doubtful = {one.reason.args.get("run") for one in listed if one.state == "fail"} - {None}
        return Certificate(
            granted=certificate.is_granted(listed),
            original=str(self.tops[0]),
            migrated=str(self.tops[1]),
            line=self.spec.training.line,
            migrated_line=self.line,
            place=self.place.as_posix() if self.place.parts else "",
            seed=self.spec.proof.seed,
            checks=listed,
            rehearsals=tuple(self.rehearsals),
            before=self._states(self.tops[0]),
            after=self._states_of_result(self.tops[1]),
            edits=self.edits,
            losses=found.losses,
            gradients=found.gradients,
            on_npu=real,
            operators=found.operators,
            unproven=tuple(unproven(found)),
            precision=next((one.run for one in self.rehearsals if one.run in doubtful), ""),
        )

    def _states(self, top: Path) -> dict[str, int]:
        return per_state(scan(top, self.facts), "place")

    def _states_of_result(self, top: Path) -> dict[str, int]:
        """As the migration counts them."""
        return per_state(settled(top, scan(top, self.facts), "minimal"), "place")

    def tell(self, found: Certificate) -> Ended:
        """Raises OSError."""
        certificate.keep(self.run, found)
        self.journal.write(Artifact(kind="certificate", path=FILE))
        with suppress(OSError):
            self.journal.write(Progress(done=len(STANCES), total=len(STANCES), phase="certify"))
            self.journal.write(*(_finding(one) for one in found.checks if one.state == "fail"))
            key = "migration.certify.granted" if found.granted else "migration.certify.refused"
            passed = sum(one.state == "pass" for one in found.checks)
            self.journal.write(Note(key=key, args={"passed": passed, "checks": len(found.checks)}))
        return Ended(code=0) if found.granted else Ended(code=NO, reason="no")


def _told(run: Run, glance: Glance, report: Report | None) -> Rehearsal:
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
        rule=check.reason.key, severity="error", path=check.path, line=check.line,
        args=msgspec.to_builtins(check.reason.args),
    )  # fmt: skip
