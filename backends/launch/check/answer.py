"""The answer of a check as a value: artifacts/check.json, the lines of a terminal and the cards of the window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from backends.launch.check.figures import Disk, Estimate  # noqa: TC001 - msgspec reads the fields
from backends.launch.check.largest import Largest  # noqa: TC001
from studio import files

if TYPE_CHECKING:
    from studio.run import Run

T = TypeVar("T")

FILE = "artifacts/check.json"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Times in seconds, sizes in bytes. `measured`: steps without the first; `limit`: what the training may have
    resident; `card_peak`: on the card, None without one; `free`: on the disk of the runs; `workers`: all
    of which were checked together; `busy`: cores that others used meanwhile, of `cores`; `largest`: None where it was
    not looked for."""

    device: str
    batch: int
    steps: int
    measured: int
    step: Estimate
    first: Estimate
    peak: Estimate
    card_peak: Estimate | None
    limit: int
    total: Estimate
    disk: Disk
    free: int | None
    workers: int
    busy: float
    cores: int
    largest: Largest | None


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """The answer is no: this micro batch takes more bytes than `limit`."""

    batch: int
    limit: int
    refused: bool


def answer_in(run: Run) -> Answer | None:
    """None where the file is missing, a refusal, or of another studio."""
    return _read(run, Answer)


def refusal_in(run: Run) -> Refusal | None:
    return _read(run, Refusal)


def _read(run: Run, kind: type[T]) -> T | None:
    return files.read_as(run.folder / FILE, kind)
