"""artifacts/certificate.json: what was compared, what the checks concluded, and what remains unproven."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from backends.migration.certify.file_edits import FileEdit  # noqa: TC001 - msgspec reads it
from backends.migration.certify.metric_rows import MetricRow  # noqa: TC001 - msgspec reads it
from backends.migration.certify.operators import Operator  # noqa: TC001 - msgspec reads it
from studio import files

if TYPE_CHECKING:
    from pathlib import Path

    from studio.run import Run

CERTIFICATE_FILE = "artifacts/certificate.json"
CheckState = Literal["pass", "fail", "unproven"]
CheckName = Literal[
    "original", "migrated", "device", "cuda", "losses", "gradients", "finite", "operators", "untouched", "npu",
]  # fmt: skip
CHECK_TITLES: dict[CheckName, str] = {
    "original": "migration.certify.check.original",
    "migrated": "migration.certify.check.migrated",
    "device": "migration.certify.check.device",
    "cuda": "migration.certify.check.cuda",
    "losses": "migration.certify.check.losses",
    "gradients": "migration.certify.check.gradients",
    "finite": "migration.certify.check.finite",
    "operators": "migration.certify.check.operators",
    "untouched": "migration.certify.check.untouched",
    "npu": "migration.certify.check.npu",
}
REQUIRED_CHECKS: tuple[CheckName, ...] = ("original", "migrated", "device", "losses")
"""Checks that must pass; of the others it is enough that none fails."""


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence of the catalogue: its `key` and the values of its placeholders."""

    key: str
    args: dict[str, Any] = {}


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one check. `path` and `line` point into the migrated project where one of its lines is the
    cause."""

    name: CheckName
    state: CheckState
    reason: Reason
    path: str = ""
    line: int = 0


class Rehearsal(msgspec.Struct, frozen=True, kw_only=True):
    """One run behind the certificate. `run`: the name of its folder, a sibling of the certificate's run; `redirected`:
    how often each device call was redirected to the CPU."""

    run: str = ""
    code: int | None = None
    steps: int = 0
    processes: int = 0
    seconds: float = 0.0
    redirected: dict[str, int] = {}


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """The whole proof. `line`, `workdir`: the command and the folder inside either project where it started;
    `migrated_line`: the same command, or with the NPU's device names. `before`, `after`: findings per state in each
    project. `losses`, `gradients`: values of both rehearsals side by side; `on_npu`: losses of the rehearsal next to
    those of a real NPU. `precision`: the run to open on the Precision page where a loss is not finite."""

    granted: bool
    original: str
    migrated: str
    line: tuple[str, ...]
    migrated_line: tuple[str, ...]
    workdir: str = msgspec.field(name="place")
    seed: int
    checks: tuple[Check, ...]
    rehearsals: tuple[Rehearsal, ...] = ()
    before: dict[str, int] = {}
    after: dict[str, int] = {}
    edits: tuple[FileEdit, ...] = ()
    losses: tuple[MetricRow, ...] = ()
    gradients: tuple[MetricRow, ...] = ()
    on_npu: tuple[MetricRow, ...] = ()
    operators: tuple[Operator, ...] = ()
    unproven: tuple[Reason, ...] = ()
    precision: str = ""


def is_granted(checks: tuple[Check, ...]) -> bool:
    """Tell whether all required checks passed and none failed."""
    passed = {check.name for check in checks if check.state == "pass"}
    return passed.issuperset(REQUIRED_CHECKS) and not any(check.state == "fail" for check in checks)


def write_certificate(run: Run, certificate: Certificate) -> None:
    """Write the certificate into the run's folder. Raises OSError."""
    files.write_json(run.folder / CERTIFICATE_FILE, certificate)


def read_certificate(folder: Path) -> Certificate | None:
    """Read the certificate of a run's folder; None where the file is missing, damaged or written by an incompatible
    version."""
    return files.read_as(folder / CERTIFICATE_FILE, Certificate)


def certify_answer(run: Run) -> dict[str, Any]:
    """Return what `--json` adds: the certificate."""
    certificate = read_certificate(run.folder)
    return {} if certificate is None else dict(msgspec.to_builtins(certificate))
