"""The operators of a rehearsal beside what torch_npu has: artifacts/operators.json."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from studio import files

if TYPE_CHECKING:
    from pathlib import Path

FILE = "artifacts/operators.json"
Kernel = Literal["kernel", "composite", "fallback", "maybe", "none", "unknown"]
Dtypes = Literal["documented", "other", "unknown"]


@dataclass(frozen=True, kw_only=True)
class OperatorRow:
    """An operator in all its calls. `kernel`: what the wheel's registrations say of it; "composite" is made of other
    operators, "unknown" is none of torch's own; `support`: whether Ascend's documentation names the dtypes that it was
    called with, names others, or is silent; `dtypes`: those of its arguments; `shapes`: examples; `shape_count`: how
    many different ones there were."""

    operator: str
    kernel: Kernel
    support: Dtypes
    calls: int
    phases: tuple[str, ...]
    dtypes: tuple[str, ...]
    documented: tuple[str, ...] = ()
    shapes: tuple[str, ...]
    shape_count: int


@dataclass(frozen=True, kw_only=True)
class Wait:
    """A line at which the host waits for the card. `bytes_read`: by the host, in all `calls`."""

    operator: str
    path: str
    line: int
    calls: int
    bytes_read: int


@dataclass(frozen=True, kw_only=True)
class Dynamic:
    """An operator whose shapes changed between steps. `shapes`: some of them; `count`: how many there were; `step`:
    before which step, from 1, they changed first."""

    operator: str
    module: str
    path: str
    line: int
    shapes: tuple[str, ...]
    count: int
    step: int


@dataclass(frozen=True, kw_only=True)
class Cast:
    """A line that asks for float64 and gets float32 on a card."""

    path: str
    line: int
    times: int


@dataclass(frozen=True, kw_only=True)
class Inventory:
    """`left_out`: places beyond the bound of what is told apart; `calls_together`: calls whose shapes never repeat, and
    are counted without them."""

    operators: tuple[OperatorRow, ...] = ()
    waits: tuple[Wait, ...] = ()
    dynamic: tuple[Dynamic, ...] = ()
    casts: tuple[Cast, ...] = ()
    left_out: int = 0
    calls_together: int = 0

    def of_kernel(self, *kinds: Kernel) -> tuple[OperatorRow, ...]:
        return tuple(row for row in self.operators if row.kernel in kinds)

    @property
    def unknown_dtypes(self) -> tuple[OperatorRow, ...]:
        """Operators that were called with float64 or complex, and of which no source says whether a card has that."""
        wide = ("float64", "complex64", "complex128")
        return tuple(
            row
            for row in self.of_kernel("kernel", "composite")
            if row.support != "documented" and any(dtype in wide for dtype in row.dtypes)
        )


def read_inventory(folder: Path) -> Inventory | None:
    """Return the inventory; None where the file is missing, damaged, or of another studio."""
    return files.read_as(folder / FILE, Inventory)
