"""Determinism, in the worker: the same line three times, twice with digests and once without."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from backends.common import child_run
from backends.precision.determinism import digests, losses, weights
from backends.precision.determinism.result import DETERMINISM_FILE, DeterminismResult, Difference
from studio import files
from studio import run as runs
from studio.errors import Stopped, StudioError
from studio.events import Artifact, Ended, Finding, Journal, Metric, Note, Progress, last_error
from studio.exit_codes import NO, STOPPED
from studio.supervisor import raise_if_stopped

if TYPE_CHECKING:
    from backends.precision.determinism.result import LossRow
    from backends.precision.determinism.spec import DeterminismSpec
    from backends.precision.determinism.weights import WeightComparison
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
    if result.verdict == "equal":
        return Ended(code=0)
    return Ended(code=NO, reason="incomplete" if result.verdict == "incomplete" else "no")


def script_values(spec: DeterminismSpec, *, captured: bool) -> dict[str, Any]:
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
    # The digests of weights come first: their hook is then called before that of captures.
    hooks = f"weight_digests={spec.proof.compared_steps},curves,captures"
    environment = {"env": {"ASCEND_STUDIO_HOOKS": hooks}}
    values = {"program": program, "ending": {"grace": 0.0}, "environment": environment}
    return {**values, "planned": planned} if captured else values


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
    is_over = all(_is_over(ended) for ended in ended_runs[:2])
    limit = spec.proof.compared_steps
    of_weights = weights.compare_weight_digests(folders[0], folders[1], limit, are_over=is_over)
    of_ranks = losses.rank_difference(folders[0], folders[1], limit, are_over=is_over)
    if not rows and not compared.tensors and not of_weights.steps:
        raise StudioError("precision.determinism.nothing_seen", run=ended_runs[0].name)
    of_rows = losses.first_difference(rows)
    if of_rows is not None and (of_ranks is None or of_rows < of_ranks[0]):
        of_ranks = (of_rows, 0)
    first = _earliest(compared.first, of_ranks, _late(of_weights.first, compared.steps))
    step_count = max((*(row.step for row in rows), *of_weights.steps), default=0)
    without = weights.compare_weight_digests(folders[0], folders[2], limit)
    return DeterminismResult(
        deterministic=first is None, first=first, capture_changes=_is_changed(folders, rows, first, without, limit),
        runs=tuple(ended.name for ended in ended_runs), losses=rows, tensors=compared.tensors,
        framework=compared.framework, steps=limit, digest_steps=spec.proof.digest_steps,
        trained_steps=step_count if is_over else 0,
        tensor_steps=compared.steps if compared.tensors else (), weight_steps=of_weights.steps,
        has_final=of_weights.has_final, lacks_final=of_weights.lacks_final, is_over=is_over,
        lacks_without=not set(of_weights.steps) <= set(without.steps) or _lacks_ranks(folders, rows),
    )  # fmt: skip


def _lacks_ranks(folders: list[Path], rows: tuple[LossRow, ...]) -> bool:
    """Return whether the run without a capture lacks losses of a rank that the first has."""
    first, without = losses.losses_by_rank(folders[0]), losses.losses_by_rank(folders[2])
    last = rows[-1].step if rows else 0
    return any(step <= last and step not in without.get(rank, {}) for rank, steps in first.items() for step in steps)


def _earliest(
    tensor: Difference | None, loss_step: tuple[int, int] | None, weight: Difference | None
) -> Difference | None:
    """Return the first difference in time: in a step tensors come first, then its loss, then the weights that it
    leaves. `loss_step`: step and rank."""
    loss = None
    if loss_step is not None:
        loss = Difference(step=loss_step[0], rank=loss_step[1], name=losses.LOSS, place="loss", reason="later")
    differences = [difference for difference in (tensor, loss, weight) if difference is not None]
    return min(differences, key=lambda difference: difference.step, default=None)


def _late(weight: Difference | None, captured: tuple[int, ...]) -> Difference | None:
    """Return a difference of weights; behind the steps with tensors nothing says what made it."""
    if weight is None or weight.place in ("final", "buffer") or weight.step in captured:
        return weight
    return msgspec.structs.replace(weight, reason="later")


def _is_over(run: Run) -> bool:
    """Return whether a run ended by itself, and was not stopped since it had gone far enough."""
    glance = runs.glance(run)
    return glance.state == "ended" and glance.reason != "stopped"


def _is_changed(
    folders: list[Path], rows: tuple[LossRow, ...], first: Difference | None, without: WeightComparison, limit: int
) -> bool | None:
    """Return whether the run without a capture differs from the first with one, None where nothing tells."""
    if first is not None:
        return None
    by_losses = losses.is_changed(rows)
    if by_losses is None and not without.steps:
        return None
    of_ranks = losses.rank_difference(folders[0], folders[2], limit, are_over=False)
    return bool(by_losses) or of_ranks is not None or without.first is not None


def result_notes(result: DeterminismResult) -> list[Finding | Note]:
    """What is said of it, and what to do."""
    notes = verdict_notes(result)
    if result.first is not None:
        notes.append(Finding(rule=advice(result), severity="info"))
    if result.capture_changes:
        notes.append(Finding(rule="precision.determinism.capture_changes", severity="warning"))
    return notes


def verdict_notes(result: DeterminismResult) -> list[Finding | Note]:
    """What was compared, and whether it differs."""
    notes: list[Finding | Note] = []
    if not result.tensors:
        notes.append(Finding(rule="precision.determinism.losses_only", severity="warning"))
    if result.first is not None:
        return [*notes, _difference_finding(result.first)]
    if result.is_whole:
        notes.append(Note(key="precision.determinism.equal", args=coverage(result)))
    else:
        notes.append(Finding(rule="precision.determinism.incomplete", severity="warning", args=coverage(result)))
    if result.ended_early:
        args = {"trained": result.trained_steps, "steps": result.steps}
        notes.append(Finding(rule="precision.determinism.ended_early", severity="warning", args=args))
    if result.is_nonfinite:
        notes.append(Finding(rule="precision.determinism.nonfinite", severity="warning"))
    if result.lacks_without and not result.capture_changes:
        notes.append(Finding(rule="precision.determinism.lacks_without", severity="warning"))
    if result.lacks_final:
        notes.append(Finding(rule="precision.determinism.lacks_final", severity="warning"))
    elif result.has_final:
        notes.append(Note(key="precision.determinism.final_equal"))
    elif result.is_whole and not result.is_over:
        notes.append(Note(key="precision.determinism.goes_on", args=coverage(result)))
    return notes


def _difference_finding(first: Difference) -> Finding:
    args = {"step": first.step, "name": first.name, "place": first.place, "index": first.index}
    rule = DIFFERENCE.get(first.place, "precision.determinism.differs")
    return Finding(rule=rule, severity="warning", args=args)


def coverage(result: DeterminismResult) -> dict[str, Any]:
    """Return what was compared and of how many, for the sentences."""
    losses_compared = sum(row.first is not None and row.second is not None for row in result.losses)
    return {
        "tensors": result.tensors, "tensor_steps": len(result.tensor_steps), "digest_steps": result.digest_steps,
        "losses": losses_compared, "weights": len(result.weight_steps), "steps": result.steps,
    }  # fmt: skip


DIFFERENCE = {
    "weights": "precision.determinism.differs_weights", "state": "precision.determinism.differs_state",
    "final": "precision.determinism.differs_final", "loss": "precision.determinism.differs_loss",
    "buffer": "precision.determinism.differs_buffer",
}  # fmt: skip
ADVICE = {
    "seed": "precision.determinism.advice_seed", "data": "precision.determinism.advice_data",
    "untraced": "precision.determinism.advice_untraced", "update": "precision.determinism.advice_update",
    "random": "precision.determinism.advice_random",
    "final": "precision.determinism.advice_final", "buffer": "precision.determinism.advice_buffer",
    "flow": "precision.determinism.advice_flow", "later": "precision.determinism.advice_later",
}  # fmt: skip
KERNEL = {
    "torch": "precision.determinism.advice_kernel_torch", "mindspore": "precision.determinism.advice_kernel_mindspore",
}  # fmt: skip


def advice(result: DeterminismResult) -> str:
    """A key: which switch makes it the same."""
    reason = "later" if result.first is None else result.first.reason
    return ADVICE.get(reason) or KERNEL.get(result.framework) or KERNEL["torch"]
