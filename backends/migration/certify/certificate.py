"""artifacts/certificate.json: what was compared, what the checks concluded, and what remains unproven."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from backends.migration.certify.file_edits import FileEdit  # noqa: TC001 - msgspec reads it
from backends.migration.certify.folder_digest import FolderDigest, changed_file
from backends.migration.certify.metric_rows import MetricRow  # noqa: TC001 - msgspec reads it
from backends.migration.certify.operators import Operator  # noqa: TC001 - msgspec reads it
from studio import files

if TYPE_CHECKING:
    from studio.run import Run

CERTIFICATE_FILE = "artifacts/certificate.json"
CheckState = Literal["pass", "fail", "not_run", "no_card"]
"""proven; refused; what was asked of neither side, or did not run; what cannot be shown without a card."""
CheckName = Literal[
    "original", "migrated", "device", "cuda", "losses", "gradients", "virtual", "finite", "devices", "dtypes", "scaler",
    "seeds", "groups", "collectives", "optimizer", "batches", "saved", "memory", "branches", "on_gpu", "on_cpu",
    "operators", "untouched", "npu",
]  # fmt: skip
CHECK_TITLES: dict[CheckName, str] = {
    "original": "migration.certify.check.original",
    "migrated": "migration.certify.check.migrated",
    "device": "migration.certify.check.device",
    "cuda": "migration.certify.check.cuda",
    "losses": "migration.certify.check.losses",
    "gradients": "migration.certify.check.gradients",
    "virtual": "migration.certify.check.virtual",
    "finite": "migration.certify.check.finite",
    "devices": "migration.certify.check.devices",
    "dtypes": "migration.certify.check.dtypes",
    "scaler": "migration.certify.check.scaler",
    "seeds": "migration.certify.check.seeds",
    "groups": "migration.certify.check.groups",
    "collectives": "migration.certify.check.collectives",
    "optimizer": "migration.certify.check.optimizer",
    "batches": "migration.certify.check.batches",
    "saved": "migration.certify.check.saved",
    "memory": "migration.certify.check.memory",
    "branches": "migration.certify.check.branches",
    "on_gpu": "migration.certify.check.on_gpu",
    "on_cpu": "migration.certify.check.on_cpu",
    "operators": "migration.certify.check.operators",
    "untouched": "migration.certify.check.untouched",
    "npu": "migration.certify.check.npu",
}
REQUIRED_CHECKS: tuple[CheckName, ...] = ("original", "migrated", "device", "losses", "branches")
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
    """One run behind the certificate. `run`: the name of its folder, a sibling of the certificate's run; `stance`: the
    host that was posed as; `device`: virtual_npu or cpu; `redirected`: how often each device call was redirected to the
    CPU."""

    run: str = ""
    stance: str = ""
    device: str = ""
    code: int | None = None
    steps: int = 0
    processes: int = 0
    seconds: float = 0.0
    redirected: dict[str, int] = {}


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """The whole proof. `line`, `workdir`: the command and the folder inside either project where it started;
    `migrated_line`: the same command, or with the NPU's device names. `before`, `after`: findings per state in each
    project. `losses`, `gradients`: values of both rehearsals side by side; `on_npu`: losses of the rehearsal next to
    those of a real NPU. `not_run`: what no rehearsal came through; `unproven`: what none can show without a card.
    `folders`: the state of both projects that it is about. `precision`: the run to open on the Precision page where a
    loss is not finite."""

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
    not_run: tuple[Reason, ...] = ()
    unproven: tuple[Reason, ...] = ()
    folders: tuple[FolderDigest, ...] = ()
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
    """Return what `--json` adds: the certificate, and the file that makes it stale."""
    certificate = read_certificate(run.folder)
    if certificate is None:
        return {}
    brief = msgspec.structs.replace(
        certificate, folders=tuple(msgspec.structs.replace(folder, files={}) for folder in certificate.folders)
    )
    return dict(msgspec.to_builtins(brief), stale=stale_file(certificate))


def stale_file(certificate: Certificate) -> str:
    """Return a file of either project that is not any more as it was proven, "" where all are: with it, a certificate
    that was granted is not granted any more."""
    tops = [Path(folder.path) for folder in certificate.folders]
    for folder, top in zip(certificate.folders, tops, strict=True):
        other = next((one for one in tops if one != top), top)
        excluded = other if other != top and other.is_relative_to(top) else None
        if path := changed_file(folder, excluded):
            return str(top / path)
    return ""


def is_in_force(certificate: Certificate) -> bool:
    """Tell whether a certificate was granted and both projects are as they were then."""
    return certificate.granted and not stale_file(certificate)
