"""The memory of virtual cards in a rehearsal: artifacts/memory.json, and whether a training fits a card."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from studio import files

if TYPE_CHECKING:
    from pathlib import Path

FILE = "artifacts/memory.json"
ERROR = 0.1
"""Bound of the relative error of a peak; `prove virtual_npu_memory` measures it."""
Fit = Literal["fits", "close", "beyond"]


@dataclass(frozen=True, kw_only=True)
class Shortage:
    """Where a card had too little memory for the first time. `tried`: bytes of the segment that was wanted;
    `allocated`, `reserved`: bytes then; `step`: how many steps were done."""

    tried: int
    allocated: int
    reserved: int
    path: str
    line: int
    step: int
    phase: str
    module: str


@dataclass(frozen=True, kw_only=True)
class ModuleMemory:
    """Bytes of a module at the peak, by kind. `count`: how many modules stand in this row together."""

    module: str
    count: int = 1
    kinds: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class CardMemory:
    """A card of one process. `peak`: the most bytes in use at once; `reserved`: the most that the allocator took from
    the device; `missing`: by how much that is beyond the card, where nothing is computed; `step`: the step of the peak,
    from 1; `kinds`, `modules`: bytes at the peak; `refusal`: the first request that the card had no memory for."""

    card: int
    total: int
    peak: int
    reserved: int
    missing: int
    step: int
    kinds: dict[str, int]
    modules: tuple[ModuleMemory, ...] = ()
    refusal: Shortage | None = None
    rank: int = 0

    @property
    def fit(self) -> Fit:
        if self.missing or self.refusal is not None:
            return "beyond"
        return "fits" if self.reserved * (1 + ERROR) <= self.total else "close"


@dataclass(frozen=True, kw_only=True)
class Assumed:
    """A line that reads numbers where nothing is computed. `use`: read, printed or kept at most; compared, which may
    choose another branch; size, which may become a shape."""

    path: str
    line: int
    use: Literal["read", "compared", "size"]
    times: int


@dataclass(frozen=True, kw_only=True)
class Unfollowed:
    """An operator that cannot be followed without numbers, with torch's reason."""

    operator: str
    reason: str
    path: str
    line: int


@dataclass(frozen=True, kw_only=True)
class MemoryReport:
    """`is_fake`: nothing was computed; `world`: how many ranks the training has, of which `cards` shows some; `error`:
    see ERROR; `unlisted`: what is in none of the numbers."""

    is_fake: bool = False
    world: int = 1
    steps: int = 0
    error: float = ERROR
    cards: tuple[CardMemory, ...] = ()
    assumed: tuple[Assumed, ...] = ()
    unfollowed: tuple[Unfollowed, ...] = ()
    unlisted: tuple[str, ...] = field(default=("driver", "context", "workspaces of kernels", "buffers of HCCL"))

    @property
    def fit(self) -> Fit | None:
        """The worst of all cards; None where no card was used."""
        fits = {card.fit for card in self.cards}
        return next((fit for fit in ("beyond", "close", "fits") if fit in fits), None)

    @property
    def is_whole(self) -> bool:
        """Whether the peak follows from what was seen: a step was done, and no number that had to be assumed decided
        anything.
        """
        decided = any(assumed.use != "read" for assumed in self.assumed)
        return self.steps > 0 and not decided and not self.unfollowed


def read_memory(folder: Path) -> MemoryReport | None:
    """Return the report; None where the file is missing, damaged, or of another studio."""
    return files.read_as(folder / FILE, MemoryReport)
