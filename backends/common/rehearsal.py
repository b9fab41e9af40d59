"""The results of a rehearsal: artifacts/rehearsal.json and the table of the operators that ran."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from studio import files

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FILE = "artifacts/rehearsal.json"
OPERATORS = "artifacts/operators.csv"
VIRTUAL = "virtual_npu"
HEAD = (
    "operator", "phase", "module", "input_dtypes", "input_shapes", "output_dtypes", "output_shapes", "count",
)  # fmt: skip
_WITHOUT_LOCATION = ("torch.npu.", "torch.cuda.", "torch.accelerator.")


@dataclass(frozen=True, kw_only=True)
class Blocked:
    """`kind`: raised; disabled, where torch warns and goes on without it; ignored; asked, and told that there is no
    CUDA; unknown, where the rehearsal itself has no stand-in. `path`, `line`: of the script's own code."""

    name: str
    message: str
    kind: Literal["raised", "disabled", "ignored", "asked", "unknown"]
    path: str
    line: int


@dataclass(frozen=True, kw_only=True)
class Fallback:
    """An operator at a line of the script that torch_npu has no kernel for. `kind`: fallback, it is computed on the
    host; maybe, the lists leave that open. `bytes_moved`: of its tensors, to the host and back, in all `calls`."""

    operator: str
    kind: Literal["fallback", "maybe"]
    path: str
    line: int
    calls: int
    bytes_moved: int


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step of one optimizer: digests of the bits of its gradients and of the weights after it, and the gradients'
    norm.
    """

    gradients: str
    norm: float | str
    weights: str


@dataclass(frozen=True, kw_only=True)
class Report:
    """`device`: "cpu" or "virtual_npu"; `device_operators`: how often an operator ran on the virtual NPU; `losses`: of
    the first rank that has any, non-finite ones as in the protocol; `operators`: how many different ones ran; `ended`:
    "steps", "time" or "memory" where a limit ended it, "script" where the script did; `traces`: of each process that
    has one, by rank; `answer`: None where fewer steps came than were asked for, so that it is not known; `fallbacks`:
    of all processes, those that moved most first; `is_fake`: nothing was computed."""

    stance: str
    device: str = "cpu"
    device_operators: int = 0
    steps: int
    losses: tuple[float | str, ...]
    redirected: dict[str, int]
    blocked: tuple[Blocked, ...]
    operators: int
    processes: int
    ended: str
    answer: bool | None
    traces: tuple[tuple[Step, ...], ...] = ()
    fallbacks: tuple[Fallback, ...] = ()
    is_fake: bool = False

    @property
    def is_virtual(self) -> bool:
        return self.device == VIRTUAL


def read_report(folder: Path) -> Report | None:
    """Return the report; None where the file is missing, damaged, or of another studio."""
    return files.read_as(folder / FILE, Report)


def read_operators(folder: Path) -> list[dict[str, str]]:
    """Return the rows by HEAD; none where the table is missing."""
    try:
        with (folder / OPERATORS).open(encoding="utf-8", errors="replace", newline="") as file:
            return list(csv.DictReader(file))
    except (OSError, csv.Error):
        return []


def uses_device(redirected: Iterable[str], device_operators: int = 0) -> bool:
    """Return whether anything was put on a device: asking for its name or pinning memory does not count."""
    return device_operators > 0 or any(
        name.startswith(("Tensor.", "Module.", "torch."))
        and not name.startswith(_WITHOUT_LOCATION)
        and "pin" not in name
        for name in redirected
    )
