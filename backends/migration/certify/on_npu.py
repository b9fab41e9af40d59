"""The same few steps on a real NPU, where this host has one. Nobody here has: tried with a host that says it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backends.common import npu_smi
from backends.migration.certify import numbers
from backends.migration.certify.certificate import Check, Reason

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backends.migration.certify.numbers import Row
    from backends.migration.certify.spec import CertifySpec

COMMAND = "script"
NEAR = 0.01
"""Relative difference of a loss from the rehearsed one up to which the two are taken for the same training."""
# As the guest reads them: studio/guest/ascend_studio/rehearsal.
HOOKS = {"ASCEND_STUDIO_HOOKS": "curves,rehearse=here"}
STEPS, SEED = "ASCEND_STUDIO_REHEARSAL_STEPS", "ASCEND_STUDIO_REHEARSAL_SEED"


def is_here() -> bool:
    """Asks npu-smi, for seconds at most."""
    text = npu_smi.run_npu_smi()
    return text is not None and bool(npu_smi.read(text).cards)


def values(spec: CertifySpec, line: tuple[str, ...], workdir: Path) -> dict[str, Any]:
    """As run.json of a launch of a program has them; `tests/migration` holds them against its spec."""
    python = spec.training.python
    steps = {STEPS: str(spec.proof.steps), SEED: str(spec.proof.seed), "PYTHONHASHSEED": "0"}
    return {
        "program": {"line": list(line), "workdir": str(workdir), "python": str(python) if python.parts else ""},
        "recording": {"log_pattern": "off"},
        "environment": {"env": {**dict(spec.environment.env), **HOOKS, **steps}},
    }


def check(run: str, code: int | None, rows: Sequence[Row], message: str) -> Check:
    """`rows`: losses of the rehearsal as npu beside those of the NPU; `message`: the last that it said."""
    if code or code is None:
        return _check("fail", "migration.certify.reason.npu_failed", message=message)
    both = [row for row in rows if row.original is not None and row.migrated is not None]
    if not both:
        return _check("unproven", "migration.certify.reason.npu_no_losses")
    if (row := numbers.first_not_finite(both)) is not None:
        args = {"step": row.step, "loss": str(row.migrated), "run": run}
        return _check("fail", "migration.certify.reason.npu_not_finite", **args)
    off = max(map(_off, both))
    args = {"count": len(both), "percent": f"{100 * off:.3g}"}
    if off <= NEAR:
        return _check("pass", "migration.certify.reason.npu_near", **args)
    return _check("unproven", "migration.certify.reason.npu_far", **args)


def _off(row: Row) -> float:
    one, two = float(row.original or 0), float(row.migrated or 0)
    return abs(two - one) / max(abs(one), 1e-12)


def _check(state: Any, key: str, /, **args: Any) -> Check:
    return Check(name="npu", state=state, reason=Reason(key=key, args=args))
