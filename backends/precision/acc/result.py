"""What came of it, as it is kept, shown and printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from backends.precision.msprobe.acc_check import Accuracy  # noqa: TC001 - msgspec reads it
from studio import files

if TYPE_CHECKING:
    from studio.run import Run

FILE = "artifacts/acc_check.json"
FOLDER = "artifacts/acc_check"
BAD = ("error", "false", "no")


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """`checked`: by acc_check, the device against higher precision on the CPU; `compared`: by api_precision_compare,
    the NPU against a GPU, empty where that was not asked for."""

    call: str
    device: str
    checked: tuple[Accuracy, ...]
    compared: tuple[Accuracy, ...] = ()

    @property
    def worst(self) -> Accuracy | None:
        """The first that is not good enough."""
        return next((one for one in (*self.checked, *self.compared) if is_bad(one)), None)


def is_bad(one: Accuracy) -> bool:
    return any(said.strip().lower() in BAD for said in (one.forward, one.backward))


def read_result(run: Run) -> Result | None:
    return files.read_as(run.folder / FILE, Result)


def answer(run: Run) -> dict[str, Any]:
    """For `--json`."""
    found = read_result(run)
    plain: dict[str, Any] = {} if found is None else msgspec.to_builtins(found)
    return plain
