"""The hosts that a migrated project promises to run on, and whether it does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.migration.certify import metric_rows
from backends.migration.certify.certificate import Check, Reason
from studio import run as runs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.migration.certify.certificate import CheckName
    from backends.migration.certify.checks import RehearsalOutcome
    from backends.migration.certify.metric_rows import MetricRow
    from studio.run import Run


def promises_all_hosts(promise: str, migrated: Path, run: Run) -> bool:
    """Tell whether the result is to run on any host. `promise`: any, npu or auto, which looks for the migration among
    the runs beside `run` that wrote the folder: the explicit style promises it."""
    if promise != "auto":
        return promise == "any"
    styles = (_style_of(other, migrated) for other in runs.runs_in(run.folder.parent))
    return next((style for style in styles if style), "") == "explicit"


def _style_of(run: Run, migrated: Path) -> str:
    """Return the style of a migration that wrote this folder, "" for any other run."""
    if run.request.command != "migrate":
        return ""
    result, source = (run.request.values.get(name) for name in ("result", "migrated"))
    into: Any = result.get("into") if isinstance(result, dict) else None
    if not into or not isinstance(source, dict) or Path(str(into)).resolve() != migrated:
        return ""
    return str(source.get("style") or "")


def check_gpu(outcome: RehearsalOutcome, losses: tuple[MetricRow, ...], contracts: Iterable[Check]) -> Check:
    """Judge the rehearsal of the result as cuda. `losses`, `contracts`: compared with the original's."""
    if (failed := _failed("on_gpu", outcome)) is not None:
        return failed
    if not any(row.original is not None and row.migrated is not None for row in losses):
        return _check("on_gpu", "not_run", "migration.certify.reason.gpu_no_losses")
    if (row := metric_rows.first_difference(losses)) is not None:
        return _check("on_gpu", "fail", "migration.certify.reason.gpu_differs", step=row.step)
    refused = next((check for check in contracts if check.state == "fail"), None)
    if refused is not None:
        return Check(name="on_gpu", state="fail", reason=refused.reason, path=refused.path, line=refused.line)
    return _check("on_gpu", "pass", "migration.certify.reason.gpu_same", count=len(losses))


def check_cpu(outcome: RehearsalOutcome, original: RehearsalOutcome | None) -> Check:
    """Judge the rehearsal of the result on a host with neither CUDA nor an NPU. `original`: that of the original, where
    the result did not train: a migration promises no host that the original does not run on."""
    failed = _failed("on_cpu", outcome)
    if failed is not None and original is not None and _failed("on_cpu", original) is not None:
        return _check("on_cpu", "not_run", "migration.certify.reason.cpu_original", message=original.last_line)
    steps = outcome.report.steps if outcome.report else 0
    return failed or _check("on_cpu", "pass", "migration.certify.reason.cpu_ran", steps=steps)


def _failed(name: CheckName, outcome: RehearsalOutcome) -> Check | None:
    if outcome.code or outcome.code is None:
        cause = outcome.first_blocked("raised", "disabled")
        path, line = ("", 0) if cause is None else (cause.path, cause.line)
        why = Reason(key="migration.certify.reason.host_failed", args={"message": outcome.last_line})
        return Check(name=name, state="fail", reason=why, path=path, line=line)
    if not (outcome.report and outcome.report.steps):
        return _check(name, "fail", "migration.certify.reason.migrated_no_steps")
    return None


def _check(name: CheckName, state: Any, key: str, /, **args: Any) -> Check:
    return Check(name=name, state=state, reason=Reason(key=key, args=args))
