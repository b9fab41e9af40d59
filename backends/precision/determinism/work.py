"""Determinism, in the worker: the same line three times, twice with digests and once without."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.common import beside, ends
from backends.precision.determinism import digests, losses
from backends.precision.determinism.result import FILE, Difference, Result
from studio import files
from studio import run as runs
from studio.errors import StudioError
from studio.events import Artifact, Ended, Finding, Journal, Metric, Note, Progress
from studio.supervisor import STOP

if TYPE_CHECKING:
    from backends.precision.determinism.spec import DeterminismSpec
    from studio.run import Run

COMMAND = "script"
TIMES = 3
NO = 3  # done, and the answer is no
STOPPED = 128 + 15


class Stopped(Exception):
    """The worker was asked to stop."""


def determinism(spec: DeterminismSpec, run: Run) -> Ended:
    """Leaves artifacts/determinism.json. Raises StudioError where the line does not train."""
    beside.end_begun(run)
    journal = Journal(run.folder, 1)
    try:
        made = [_one(spec, run, journal, number) for number in range(TIMES)]
    except Stopped:
        return Ended(code=STOPPED, reason="stopped")
    result = judged(spec, made)
    files.write_json(run.folder / FILE, result)
    journal.write(Artifact(kind="determinism", path=FILE), *told(result))
    return Ended(code=0) if result.deterministic and not result.capture_changes else Ended(code=NO, reason="no")


def values(spec: DeterminismSpec, *, captured: bool) -> dict[str, Any]:
    """As run.json of a script has them; tests hold them against its spec."""
    training = spec.training
    program = {
        "line": list(training.line),
        "workdir": str(training.workdir) if training.workdir.parts else "",
        "python": str(training.python) if training.python.parts else "",
    }
    planned = {
        "capture": "dump", "capture_at": 1, "capture_steps": spec.proof.digest_steps, "capture_task": "md5",
    }  # fmt: skip
    return {"program": program, "ending": {"grace": 0.0}, **({"planned": planned} if captured else {})}


def _one(spec: DeterminismSpec, run: Run, journal: Journal, number: int) -> Run:
    """One of the three, ended. Raises StudioError where it failed, and Stopped."""
    journal.write(Progress(done=number, total=TIMES, phase="determinism"))
    asked = values(spec, captured=number < TIMES - 1)
    project = run.asked.project

    def is_enough(started: Run) -> bool:
        return _steps(started) > spec.proof.compared_steps

    one, glance = beside.run_to_end(run, COMMAND, asked, Path(project) if project else None, is_enough)
    if STOP.asked:
        raise Stopped
    if glance.code and glance.reason != "stopped":
        error = ends.last_error(runs.last_events(one.folder))
        said = {"run": one.name, "code": glance.code}
        raise StudioError(error.rule, **error.args) if error else StudioError("precision.determinism.failed", **said)
    return one


def _steps(run: Run) -> int:
    found = (event.step for event in runs.last_events(run.folder, 1 << 14) if isinstance(event, Metric))
    return max(found, default=0)


def judged(spec: DeterminismSpec, made: list[Run]) -> Result:
    """Raises StudioError where the runs left nothing to compare."""
    folders = [one.folder for one in made]
    compared = digests.compared(*folders[:2])
    rows = losses.rows(folders, spec.proof.compared_steps)
    if not rows and not compared.tensors:
        raise StudioError("precision.determinism.nothing_seen", run=made[0].name)
    first = compared.first
    step = losses.differs_at(rows)
    if step is not None and (first is None or step < first.step):
        first = Difference(step=step, name=losses.LOSS, place="loss", reason="later")
    return Result(
        deterministic=first is None, first=first, capture_changes=losses.is_changed(rows),
        runs=tuple(one.name for one in made), losses=rows, tensors=compared.tensors, framework=compared.framework,
    )  # fmt: skip


def told(result: Result) -> list[Finding | Note]:
    """What is said of it, and what to do."""
    found: list[Finding | Note] = []
    if not result.tensors:
        found.append(Finding(rule="precision.determinism.losses_only", severity="warning"))
    if result.first is None:
        seen = {"tensors": result.tensors, "losses": len(result.losses)}
        found.append(Note(key="precision.determinism.equal", args=seen))
    else:
        first = result.first
        args = {"step": first.step, "name": first.name, "place": first.place, "index": first.index}
        found.append(Finding(rule="precision.determinism.differs", severity="warning", args=args))
        found.append(Finding(rule=advice(result), severity="info"))
    if result.capture_changes:
        found.append(Finding(rule="precision.determinism.capture_changes", severity="warning"))
    return found


ADVICE = {
    "seed": "precision.determinism.advice_seed", "data": "precision.determinism.advice_data",
    "update": "precision.determinism.advice_update", "random": "precision.determinism.advice_random",
    "flow": "precision.determinism.advice_flow", "later": "precision.determinism.advice_later",
}  # fmt: skip
KERNEL = {
    "torch": "precision.determinism.advice_kernel_torch", "mindspore": "precision.determinism.advice_kernel_mindspore",
}  # fmt: skip


def advice(result: Result) -> str:
    """A key: which switch makes it the same."""
    reason = "later" if result.first is None else result.first.reason
    return ADVICE.get(reason) or KERNEL.get(result.framework) or KERNEL["torch"]
