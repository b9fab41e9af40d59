"""The coordinates of the plot: calls along the width, the logarithm of their errors along the height, 0 and ∞ on lines
of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LANE = 16
MIN_DECADES = 3
SMALLEST, LARGEST = -16.0, 9.0
MIN_SPAN = 8.0


def log_levels(errors: NDArray[Any]) -> NDArray[np.float32]:
    """Return log10 of errors, clipped to the plot's range; -inf for 0, NaN for NaN."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs: NDArray[np.float32] = np.log10(np.abs(errors.astype(np.float32)))
    finite = np.isfinite(logs)
    logs[finite] = np.clip(logs[finite], SMALLEST, LARGEST)
    return logs


def decade_range(*of: NDArray[np.float32]) -> tuple[int, int]:
    """Return the powers of ten that enclose all finite levels."""
    finite = [series[np.isfinite(series)] for series in of]
    non_empty = [logs for logs in finite if len(logs)]
    if not non_empty:
        return -8, 0
    low = int(np.floor(min(float(found.min()) for found in non_empty)))
    high = int(np.ceil(max(float(found.max()) for found in non_empty)))
    return low, max(high, low + MIN_DECADES)


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Maps calls and levels to pixels.

    Calls from `begin` to before `end` lie on `width` px from `left` on; decades `low` to `high` lie between `top` and
    `bottom`, inside the lines of ∞ and 0."""

    begin: float
    end: float
    left: int
    width: int
    top: int
    bottom: int
    low: int
    high: int

    def x(self, call: Any) -> Any:
        """Return the x of the middle of a call."""
        return self.left + (call + 0.5 - self.begin) * self.width / (self.end - self.begin)

    def call(self, x: float) -> float:
        return self.begin + (x - self.left) * (self.end - self.begin) / max(1, self.width)

    def y(self, level: Any) -> Any:
        share = (np.clip(level, self.low, self.high) - self.low) / (self.high - self.low)
        y = self.bottom - share * (self.bottom - self.top)
        return np.where(level == -np.inf, self.bottom + LANE, np.where(level == np.inf, self.top - LANE, y))

    def visible(self) -> tuple[int, int]:
        """Return the calls that are drawn as (first, after the last)."""
        return int(np.floor(self.begin)), int(np.ceil(self.end))

    def edges(self) -> NDArray[np.float64]:
        """Return the first call of each pixel column, and the end."""
        return np.linspace(self.begin, self.end, self.width + 1)


def zoom_range(begin: float, end: float, at: float, factor: float, count: int) -> tuple[float, float]:
    """Scale the range in view by `factor`; the call `at` stays where it is."""
    span = min(max((end - begin) * factor, min(MIN_SPAN, float(count))), float(count))
    share = (at - begin) / (end - begin)
    return clamp_range(at - share * span, span, count)


def clamp_range(begin: float, span: float, count: int) -> tuple[float, float]:
    """Move a range of `span` calls inside the plot."""
    begin = min(max(begin, 0.0), count - span)
    return begin, begin + span
