"""The training that follows a proof: of the migrated project where it was granted, else of the original."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.migration.certify.certificate import read_certificate
from backends.migration.certify.copies import line_at, line_for_npu, relative_workdir
from backends.migration.certify.spec import CertifySpec
from studio import schema
from studio.run import outcome_of

if TYPE_CHECKING:
    from studio.run import Glance, Run


def training_after(run: Run, glance: Glance) -> dict[str, Any]:
    """Return the values of run.json for a program; {} where the run's own are damaged."""
    spec, wrong = schema.from_json(CertifySpec, run.request.values)
    if wrong or not spec.training.line:
        return {}
    training = spec.training
    line, workdir = training.line, training.workdir
    if outcome_of(glance) == "done":
        tops = (spec.pair.original.resolve(), spec.pair.migrated.resolve())
        line = line_at(line_for_npu(line) if _is_renamed(run.folder) else line, tops[1], tops)
        workdir = tops[1] / relative_workdir(workdir.resolve() if workdir.parts else Path(), *tops)
    return {
        "program": {
            "line": list(line),
            "workdir": str(workdir) if workdir.parts else "",
            "python": str(training.python) if training.python.parts else "",
        },
        "environment": {"env": dict(spec.environment.env)},
    }


@lru_cache(maxsize=8)
def _is_renamed(run: Path) -> bool:
    """Whether the result took the NPU's device names in the command alone; of a run that has ended."""
    certificate = read_certificate(run)
    return certificate is not None and certificate.migrated_line != certificate.line
