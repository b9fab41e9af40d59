"""Determinism, in the worker: the same line three times, twice with digests and once without."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.common import child_run
from backends.precision.determinism import digests, losses
from backends.precision.determinism.result import DETERMINISM_FILE, DeterminismResult, Difference
from studio import files
from studio import run as runs
from studio.errors import Stopped, StudioError
from studio.events import Artifact, Ended, Finding, Journal, Metric, Note, Progress, last_error
from studio.exit_codes import NO, STOPPED
from studio.security.secret_words import masked_words
from studio.supervisor import raise_if_stopped

if TYPE_CHECKING:
    from backends.precision.determinism.spec import DeterminismSpec
    from studio.run import Run

COMMAND = "script"
RUN_COUNT = 3


def determinism(spec: DeterminismSpec, run: Run) -> Ended:
    """Leaves artifacts/determinism.json. Raises StudioError where the line does not train."""
    child_run.end_child_run(run)
    journal = Journal(run.folder, 1)
    try:
        ended_runs = [_run_once(spec, run, journal, number) for number in range(RUN_COUNT)]
    except Stopped:
        return Ended(code=STOPPED, reason="stopped")
    result = judge_runs(spec, ended_runs)
    files.write_json(run.folder / DETERMINISM_FILE, result)
    journal.write(Artifact(kind="determinism", path=DETERMINISM_FILE), *result_notes(result))
    return Ended(code=0) if result.deterministic and not result.capture_changes else Ended(code=NO, reason="no")


def script_values(spec: DeterminismSpec, *, captured: bool) -> dict[str, Any]:
    """As run.json of a script has them; tests hold them against its spec."""
    training = spec.training
    program = {
        "line": list(masked_words(training.line)),
        "workdir": str(training.workdir) if training.workdir.parts else "",
        "python": str(training.python) if training.python.parts else "",
    }
    planned = {
        "capture": "dump", "capture_at": 1, "capture_steps": spec.proof.digest_steps, "capture_task": "md5",
    }  # fmt: skip
    return {"program": program, "ending": {"grace": 0.0}, **({"planned": planned} if captured else {})}


def _run_once(spec: DeterminismSpec, run: Run, journal: Journal, number: int) -> Run:
    """One of the three, ended. Raises StudioError where it failed, and Stopped."""
    journal.write(Progress(done=number, total=RUN_COUNT, phase="determinism"))
    values = script_values(spec, captured=number < RUN_COUNT - 1)
    project = run.request.project

    def is_enough(started: Run) -> bool:
        return _steps(started) > spec.proof.compared_steps

    ended, glance = child_run.run_to_end(run, COMMAND, values, Path(project) if project else None, is_enough)
    raise_if_stopped()
    if glance.code and glance.reason != "stopped":
        error = last_error(runs.last_events(ended.folder))
        args = {"run": ended.name, "code": glance.code}
        raise StudioError(error.rule, **error.args) if error else StudioError("precision.determinism.failed", **args)
    return ended


def _steps(run: Run) -> int:
    steps = (event.step for event in runs.last_events(run.folder, 1 << 14) if isinstance(event, Metric))
    return max(steps, default=0)


def judge_runs(spec: DeterminismSpec, ended_runs: list[Run]) -> DeterminismResult:
    """Raises StudioError where the runs left nothing to compare."""
    folders = [ended.folder for ended in ended_runs]
    compared = digests.compare_digests(*folders[:2])
    rows = losses.loss_rows(folders, spec.proof.compared_steps)
    if not rows and not compared.tensors:
        raise StudioError("precision.determinism.nothing_seen", run=ended_runs[0].name)
    first = compared.first
    step = losses.first_difference(rows)
    if step is not None and (first is None or step < first.step):
        first = Difference(step=step, name=losses.LOSS, place="loss", reason="later")
    return DeterminismResult(
        deterministic=first is None, first=first, capture_changes=losses.is_changed(rows),
        runs=tuple(ended.name for ended in ended_runs), losses=rows, tensors=compared.tensors,
        framework=compared.framework,
    )  # fmt: skip


def result_notes(result: DeterminismResult) -> list[Finding | Note]:
    """What is said of it, and what to do."""
    notes: list[Finding | Note] = []
    if not result.tensors:
        notes.append(Finding(rule="precision.determinism.losses_only", severity="warning"))
    if result.first is None:
        counts = {"tensors": result.tensors, "losses": len(result.losses)}
        notes.append(Note(key="precision.determinism.equal", args=counts))
    else:
        first = result.first
        args = {"step": first.step, "name": first.name, "place": first.place, "index": first.index}
        notes.append(Finding(rule="precision.determinism.differs", severity="warning", args=args))
        notes.append(Finding(rule=advice(result), severity="info"))
    if result.capture_changes:
        notes.append(Finding(rule="precision.determinism.capture_changes", severity="warning"))
    return notes


ADVICE = {
    "seed": "precision.determinism.advice_seed", "data": "precision.determinism.advice_data",
    "update": "precision.determinism.advice_update", "random": "precision.determinism.advice_random",
    "flow": "precision.determinism.advice_flow", "later": "precision.determinism.advice_later",
}  # fmt: skip
KERNEL = {
    "torch": "precision.determinism.advice_kernel_torch", "mindspore": "precision.determinism.advice_kernel_mindspore",
}  # fmt: skip


def advice(result: DeterminismResult) -> str:
    """A key: which switch makes it the same."""
    reason = "later" if result.first is None else result.first.reason
    return ADVICE.get(reason) or KERNEL.get(result.framework) or KERNEL["torch"]
