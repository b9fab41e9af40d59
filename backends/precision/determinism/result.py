"""What came of it, as it is kept, shown and printed."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from studio import files

if TYPE_CHECKING:
    from studio.run import Run

DETERMINISM_FILE = "artifacts/determinism.json"
LossNumber = float | str
ValuePlace = Literal[
    "input",
    "argument",
    "output",
    "parameter",
    "gradient",
    "call",
    "loss",
    "weights",
    "state",
    "final",
    "buffer",
]
Reason = Literal["seed", "data", "untraced", "update", "random", "kernel", "flow", "later", "final", "buffer"]
Verdict = Literal["equal", "differs", "capture_changes", "incomplete"]


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """The first that the two runs do not have in common. `name`: of the call as msprobe names it, of the loss, or of
    the weight; `index`: of the tensor at its place; `reason`: what most likely makes it differ. `place`: "weights" and
    "state" are those after the update of `step`, "final" are weights when the training ended, after that step."""

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
    """`deterministic`: nothing that was compared differs. `capture_changes`: whether the run without a capture has
    other losses or weights than both with one; None where nothing tells, since those two differ already or there are
    neither. `runs`: names, in the order of Row. `tensors`: how many were compared, in `tensor_steps`. `weight_steps`:
    after whose updates the weights of both were compared; `has_final`: also when the training had ended;
    `lacks_final`: a rank of one alone wrote them then, or after another step; `lacks_without`: the run without a
    capture lacks weights or losses that the others have. `steps` and `digest_steps`: how many of each were to be
    compared; `is_over`: the trainings ended by themselves, after `trained_steps` (0 where nothing tells)."""

    deterministic: bool
    first: Difference | None
    capture_changes: bool | None
    runs: tuple[str, ...]
    losses: tuple[LossRow, ...]
    tensors: int
    framework: str = ""
    steps: int = 0
    digest_steps: int = 0
    tensor_steps: tuple[int, ...] = ()
    weight_steps: tuple[int, ...] = ()
    has_final: bool = False
    lacks_final: bool = False
    is_over: bool = False
    lacks_without: bool = False
    trained_steps: int = 0

    @property
    def is_whole(self) -> bool:
        """Return whether all that was to be compared was; of losses those that were logged, maybe every tenth."""
        counts = (
            (len(self.weight_steps), self.steps),
            (len(self.tensor_steps), self.digest_steps),
        )
        has_losses = _are_regular(self.losses, self.steps) and not self.is_nonfinite
        is_whole = has_losses and not self.lacks_final and not self.lacks_without
        return is_whole and all(0 < expected <= count for count, expected in counts)

    @property
    def ended_early(self) -> bool:
        """Return whether the trainings ended by themselves before all steps that were asked for."""
        return 0 < self.trained_steps < self.steps

    @property
    def is_nonfinite(self) -> bool:
        """Return whether no loss is a finite number: then nothing can differ."""
        numbers = [loss for row in self.losses for loss in (row.first, row.second) if loss is not None]
        return bool(numbers) and not any(math.isfinite(float(number)) for number in numbers)

    @property
    def verdict(self) -> Verdict:
        if not self.deterministic:
            return "differs"
        if self.capture_changes:
            return "capture_changes"
        return "equal" if self.is_whole else "incomplete"


def _are_regular(losses: tuple[LossRow, ...], steps: int) -> bool:
    """Return whether both runs logged a loss every so many steps, up to the last of them."""
    if not losses or any(row.first is None or row.second is None for row in losses):
        return False
    numbers = [row.step for row in losses]
    intervals = {later - earlier for earlier, later in pairwise(numbers)} or {numbers[0]}
    interval = max(intervals)
    return len(intervals) == 1 and numbers[0] <= interval and numbers[-1] + interval > steps


def read_determinism(run: Run) -> DeterminismResult | None:
    return files.read_as(run.folder / DETERMINISM_FILE, DeterminismResult)


def determinism_answer(run: Run) -> dict[str, Any]:
    """For `--json`."""
    result = read_determinism(run)
    if result is None:
        return {}
    return {"verdict": result.verdict, "complete": result.is_whole, **msgspec.to_builtins(result)}
