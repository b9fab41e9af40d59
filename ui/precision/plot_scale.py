"""Where a call and an error are drawn: calls along the width, errors by their logarithm, 0 and ∞ on lines apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LANE = 16
LEAST_DECADES = 3
SMALLEST, LARGEST = -16.0, 9.0
LEAST_SPAN = 8.0


def levels(errors: NDArray[Any]) -> NDArray[np.float32]:
    """log10; -inf of nought, NaN of NaN."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log10(np.abs(errors.astype(np.float32)))
    finite = np.isfinite(found)
    found[finite] = np.clip(found[finite], SMALLEST, LARGEST)
    return found


def decades(*of: NDArray[np.float32]) -> tuple[int, int]:
    """The powers of ten that hold all finite levels."""
    finite = [found[np.isfinite(found)] for found in of]
    there = [found for found in finite if len(found)]
    if not there:
        return -8, 0
    low = int(np.floor(min(float(found.min()) for found in there)))
    high = int(np.ceil(max(float(found.max()) for found in there)))
    return low, max(high, low + LEAST_DECADES)


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Calls from `begin` to before `end` on `width` pixels from `left` on; decades `low` to `high` between `top` and
    `bottom`, both inside of the lines of ∞ and nought."""

    begin: float
    end: float
    left: int
    width: int
    top: int
    bottom: int
    low: int
    high: int

    def x(self, call: Any) -> Any:
        """The middle of a call's place."""
        return self.left + (call + 0.5 - self.begin) * self.width / (self.end - self.begin)

    def call(self, x: float) -> float:
        return self.begin + (x - self.left) * (self.end - self.begin) / max(1, self.width)

    def y(self, level: Any) -> Any:
        share = (np.clip(level, self.low, self.high) - self.low) / (self.high - self.low)
        y = self.bottom - share * (self.bottom - self.top)
        return np.where(level == -np.inf, self.bottom + LANE, np.where(level == np.inf, self.top - LANE, y))

    def visible(self) -> tuple[int, int]:
        """The calls that are drawn, from the first to before the last."""
        return int(np.floor(self.begin)), int(np.ceil(self.end))

    def edges(self) -> NDArray[np.float64]:
        """Of each column of pixels its first call, and the end."""
        return np.linspace(self.begin, self.end, self.width + 1)


def zoomed(begin: float, end: float, at: float, factor: float, count: int) -> tuple[float, float]:
    """What is in view made shorter by a factor, the call `at` where it was."""
    span = min(max((end - begin) * factor, min(LEAST_SPAN, float(count))), float(count))
    share = (at - begin) / (end - begin)
    return moved(at - share * span, span, count)


def moved(begin: float, span: float, count: int) -> tuple[float, float]:
    """Inside of what there is."""
    begin = min(max(begin, 0.0), count - span)
    return begin, begin + span
