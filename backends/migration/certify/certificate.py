"""artifacts/certificate.json: what was compared, what came of it, and what was not proven."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from backends.migration.certify.edits import Edit  # noqa: TC001 - msgspec reads it
from backends.migration.certify.inventory import Operator  # noqa: TC001 - msgspec reads it
from backends.migration.certify.numbers import Row  # noqa: TC001 - msgspec reads it
from studio import files

if TYPE_CHECKING:
    from pathlib import Path

    from studio.run import Run

FILE = "artifacts/certificate.json"
State = Literal["pass", "fail", "unproven"]
Name = Literal[
    "original", "migrated", "device", "cuda", "losses", "gradients", "finite", "operators", "untouched", "npu",
]  # fmt: skip
TITLES: dict[Name, str] = {
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
NEEDED: tuple[Name, ...] = ("original", "migrated", "device", "losses")
"""What a certificate cannot do without; of the others it is enough that none fails."""


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """`key` of the catalogue and its placeholders."""

    key: str
    args: dict[str, Any] = {}


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """`path`, `line`: in the migrated project, where a line of it is why."""

    name: Name
    state: State
    reason: Reason
    path: str = ""
    line: int = 0


class Rehearsal(msgspec.Struct, frozen=True, kw_only=True):
    """`run`: the name of its run, beside the certificate's. `redirected`: uses of a device, by what was called."""

    run: str = ""
    code: int | None = None
    steps: int = 0
    processes: int = 0
    seconds: float = 0.0
    redirected: dict[str, int] = {}


class Certificate(msgspec.Struct, frozen=True, kw_only=True):
    """`line`, `place`: what was run, and where in either folder; `migrated_line`: the same, or with the NPU's names for
    devices. `before`, `after`: places per state, by a scan of
    each. `losses`, `gradients`: side by side; `on_npu`: losses of the rehearsal as npu beside those of a real one.
    `precision`: the run to look at in Precision, where a loss is not finite."""

    granted: bool
    original: str
    migrated: str
    line: tuple[str, ...]
    migrated_line: tuple[str, ...]
    place: str
    seed: int
    checks: tuple[Check, ...]
    rehearsals: tuple[Rehearsal, ...] = ()
    before: dict[str, int] = {}
    after: dict[str, int] = {}
    edits: tuple[Edit, ...] = ()
    losses: tuple[Row, ...] = ()
    gradients: tuple[Row, ...] = ()
    on_npu: tuple[Row, ...] = ()
    operators: tuple[Operator, ...] = ()
    unproven: tuple[Reason, ...] = ()
    precision: str = ""


def is_granted(checks: tuple[Check, ...]) -> bool:
    passed = {one.name for one in checks if one.state == "pass"}
    return passed.issuperset(NEEDED) and not any(one.state == "fail" for one in checks)


def keep(run: Run, found: Certificate) -> None:
    """Raises OSError."""
    files.write_json(run.folder / FILE, found)


def read(folder: Path) -> Certificate | None:
    """None where the file is missing, damaged, or of another studio."""
    return files.read_as(folder / FILE, Certificate)


def answer(run: Run) -> dict[str, Any]:
    """What `--json` adds: the certificate."""
    found = read(run.folder)
    return {} if found is None else dict(msgspec.to_builtins(found))
