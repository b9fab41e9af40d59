"""The same few steps on a real NPU, where this host has one. Tested only with a simulated npu-smi: no NPU was
available."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backends.common import npu_smi
from backends.migration.certify import metric_rows
from backends.migration.certify.certificate import Check, Reason

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backends.migration.certify.metric_rows import MetricRow
    from backends.migration.certify.spec import CertifySpec

LAUNCH_COMMAND = "script"
NEAR_LOSS = 0.01
"""Relative difference of a loss from the rehearsed one up to which the two are taken for the same training."""
# The guest reads these names: studio/guest/ascend_studio/rehearsal.
HOOKS = {"ASCEND_STUDIO_HOOKS": "curves,rehearse=here"}
STEPS, SEED = "ASCEND_STUDIO_REHEARSAL_STEPS", "ASCEND_STUDIO_REHEARSAL_SEED"


def has_npu() -> bool:
    """Ask npu-smi whether this host has an NPU; takes seconds at most."""
    text = npu_smi.run_npu_smi()
    return text is not None and bool(npu_smi.read(text).cards)


def launch_values(spec: CertifySpec, line: tuple[str, ...], workdir: Path) -> dict[str, Any]:
    """Return the values of run.json for launching a program; `tests/migration` checks them against the launch spec."""
    python = spec.training.python
    steps = {STEPS: str(spec.proof.steps), SEED: str(spec.proof.seed), "PYTHONHASHSEED": "0"}
    return {
        "program": {"line": list(line), "workdir": str(workdir), "python": str(python) if python.parts else ""},
        "recording": {"log_pattern": "off"},
        "environment": {"env": {**dict(spec.environment.env), **HOOKS, **steps}},
    }


def check_npu_run(run: str, code: int | None, rows: Sequence[MetricRow], message: str) -> Check:
    """Judge the run on the NPU. `rows`: losses of the rehearsal as npu next to those of the NPU; `message`: the last
    line of its log."""
    if code or code is None:
        return _check("fail", "migration.certify.reason.npu_failed", message=message)
    both = [row for row in rows if row.original is not None and row.migrated is not None]
    if not both:
        return _check("not_run", "migration.certify.reason.npu_no_losses")
    if (row := metric_rows.first_not_finite(both)) is not None:
        args = {"step": row.step, "loss": str(row.migrated), "run": run}
        return _check("fail", "migration.certify.reason.npu_not_finite", **args)
    off = max(map(metric_rows.relative_difference, both))
    args = {"count": len(both), "percent": f"{100 * off:.3g}"}
    if off <= NEAR_LOSS:
        return _check("pass", "migration.certify.reason.npu_near", **args)
    return _check("no_card", "migration.certify.reason.npu_far", **args)


def _check(state: Any, key: str, /, **args: Any) -> Check:
    return Check(name="npu", state=state, reason=Reason(key=key, args=args))
