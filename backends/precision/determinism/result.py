"""What came of it, as it is kept, shown and printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from studio import files

if TYPE_CHECKING:
    from studio.run import Run

DETERMINISM_FILE = "artifacts/determinism.json"
LossNumber = float | str
ValuePlace = Literal["input", "argument", "output", "parameter", "gradient", "call", "loss"]
Reason = Literal["seed", "data", "update", "random", "kernel", "flow", "later"]


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """The first that the two runs do not have in common. `name`: of the call as msprobe names it, or of the loss;
    `index`: of the tensor at its place; `reason`: what most likely makes it differ."""

    step: int
    name: str
    place: ValuePlace
    index: int = 0
    rank: int = 0
    reason: Reason = "kernel"


class LossRow(msgspec.Struct, frozen=True, kw_only=True):
    """One step's loss in the two runs with digests and in the one without; None where it has not got so far."""

    step: int
    first: LossNumber | None
    second: LossNumber | None
    without: LossNumber | None


class DeterminismResult(msgspec.Struct, frozen=True, kw_only=True):
    """`capture_changes`: whether the run without a capture has other losses than both with one; None where nothing
    tells, since those two differ already or there are no losses. `runs`: names, in the order of Row. `tensors`: how
    many were compared."""

    deterministic: bool
    first: Difference | None
    capture_changes: bool | None
    runs: tuple[str, ...]
    losses: tuple[LossRow, ...]
    tensors: int
    framework: str = ""


def read_determinism(run: Run) -> DeterminismResult | None:
    return files.read_as(run.folder / DETERMINISM_FILE, DeterminismResult)


def determinism_answer(run: Run) -> dict[str, Any]:
    """For `--json`."""
    result = read_determinism(run)
    plain: dict[str, Any] = {} if result is None else msgspec.to_builtins(result)
    return plain
