"""What came of it, as it is kept, shown and printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from backends.precision.msprobe.acc_check import Accuracy  # noqa: TC001 - msgspec reads it
from studio import files

if TYPE_CHECKING:
    from studio.run import Run

ACC_FILE = "artifacts/acc_check.json"
FOLDER = "artifacts/acc_check"
BAD = ("error", "false", "no")


class AccResult(msgspec.Struct, frozen=True, kw_only=True):
    """`checked`: by acc_check, the device against higher precision on the CPU; `compared`: by api_precision_compare,
    the NPU against a GPU, empty where that was not asked for."""

    call: str
    device: str
    checked: tuple[Accuracy, ...]
    compared: tuple[Accuracy, ...] = ()

    @property
    def worst(self) -> Accuracy | None:
        """The first that is not good enough."""
        return next((accuracy for accuracy in (*self.checked, *self.compared) if is_bad(accuracy)), None)


def is_bad(accuracy: Accuracy) -> bool:
    return any(verdict.strip().lower() in BAD for verdict in (accuracy.forward, accuracy.backward))


def read_acc_result(run: Run) -> AccResult | None:
    return files.read_as(run.folder / ACC_FILE, AccResult)


def acc_answer(run: Run) -> dict[str, Any]:
    """For `--json`."""
    result = read_acc_result(run)
    plain: dict[str, Any] = {} if result is None else msgspec.to_builtins(result)
    return plain
