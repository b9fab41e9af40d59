"""A rehearsal, in the worker: run the program under the guest's redirection, and tell what came of it."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING

from backends.common.rehearsal import FILE, OPERATORS, Report, uses_device
from backends.launch.own.plan import check
from backends.launch.own.work import keep_code
from backends.launch.rehearse import report
from backends.launch.rehearse.limits import END, Limits
from backends.launch.rehearse.plan import plan
from backends.launch.rehearse.spec import own_of
from backends.launch.work import tell_cause
from studio import processes
from studio.errors import from_os
from studio.events import Artifact, Ended, Finding, Journal, Note
from studio.supervisor import supervise

if TYPE_CHECKING:
    from backends.launch.rehearse.report import Part
    from backends.launch.rehearse.spec import RehearseSpec
    from studio.errors import StudioError
    from studio.run import Run

GRACE = 10.0
NO = 3  # done, and the answer is no


def rehearse(spec: RehearseSpec, run: Run) -> Ended:
    """Leaves artifacts/rehearsal.json and artifacts/operators.csv."""
    command = plan(spec, run)
    mark = processes.read_mark(run.folder / "training.json")
    journal = Journal(run.folder, mark.attempt if mark else 1)
    if mark is None:
        check(command, own_of(spec))
        keep_code(own_of(spec), run)
    limits = Limits(spec.rehearsal, run, journal)
    ended = supervise(command, run, GRACE, tick=limits.tick, linger=math.inf)
    (run.folder / END).unlink(missing_ok=True)
    return tell(spec, run, journal, ended, limits.reached)


def tell(spec: RehearseSpec, run: Run, journal: Journal, ended: Ended, limit: str) -> Ended:
    parts = report.read_parts(run.folder)
    found = assembled(spec, run, parts, ended, limit)
    try:
        report.keep(run, found, report.rows_of(parts))
    except OSError as error:
        return _lost(journal, from_os(error, run.folder))
    with suppress(OSError):
        journal.write(Artifact(kind="rehearsal", path=FILE), Artifact(kind="operators", path=OPERATORS))
        journal.write(summary(found))
    if ended.reason == "stopped":
        return ended
    if not found.answer:
        with suppress(OSError):
            journal.write(refusal(found, ended))
        return Ended(code=NO, reason="no")
    if limit or not ended.code:
        return Ended(code=0)
    tell_cause(run, ended)
    return ended


def _lost(journal: Journal, error: StudioError) -> Ended:
    """Whoever asked for the report is not told that all is well without it."""
    with suppress(OSError):
        journal.write(Finding(rule=error.key, severity="error", args=error.values))
    return Ended(code=1)


def assembled(spec: RehearseSpec, run: Run, parts: list[Part], ended: Ended, limit: str) -> Report:
    steps = max((part.steps for part in parts), default=0)
    redirected, blocked = report.redirected_in(parts), report.blocked_in(parts)
    most = spec.rehearsal.steps
    why = limit or ("steps" if most is not None and steps >= most else "script")
    is_refused = spec.rehearsal.stance == "npu" and (
        any(one.kind == "disabled" for one in blocked)
        or (bool(ended.code) and not limit and any(one.kind == "raised" for one in blocked))
        or (steps > 0 and not uses_device(redirected))
    )
    return Report(
        stance=spec.rehearsal.stance,
        steps=steps,
        losses=report.losses_of(run.folder),
        redirected=redirected,
        blocked=blocked,
        operators=len({row[0] for part in parts for row in part.operators}),
        processes=len(parts),
        ended=why,
        answer=not is_refused,
        traces=tuple(part.trace for part in parts if part.trace),
    )


def summary(found: Report) -> Note:
    args = {
        "steps": found.steps, "redirected": sum(found.redirected.values()), "blocked": len(found.blocked),
        "operators": found.operators,
    }  # fmt: skip
    key = "launch.rehearse.done_npu" if found.stance == "npu" else "launch.rehearse.done_cuda"
    return Note(key=key, args=args)


def refusal(found: Report, ended: Ended) -> Finding:
    """Why an NPU host would not do it, at the first place that says so."""
    kinds = ("raised", "disabled") if ended.code else ("disabled", "asked")
    first = next((one for kind in kinds for one in found.blocked if one.kind == kind), None)
    if first is None:
        return Finding(rule="launch.rehearse.no_device", severity="error")
    rule = "launch.rehearse.no_device" if first.kind == "asked" else "launch.rehearse.refused"
    args = {} if first.kind == "asked" else {"message": first.message[:300]}
    return Finding(rule=rule, severity="error", path=first.path, line=first.line, args=args)
