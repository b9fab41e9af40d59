"""A few steps in a row that are off: too many for the limit of one step, too few for that of a tenth of all. Pure.

widths         2, 4, 8, … steps in a row, fewer than a tenth of them
burst          of one width: the largest mean of the relative error over so many steps in a row
burst_limit    of one width: the limit of one step divided by the square root of the width, at least that of a tenth of
               the steps, and at least NOISE_FACTOR times the burst of this width between the golden runs
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Burst:
    """The burst of the width whose error is the largest share of its limit. `steps`: the first and the last of them,
    None where there are too few steps for any width."""

    width: int = 0
    error: float = 0.0
    limit: float = math.inf
    steps: tuple[int, int] | None = None

    @property
    def is_over(self) -> bool:
        return self.error > self.limit


NO_BURST = Burst()


def worst_burst(
    steps: NDArray[Any], relative: NDArray[Any], noise: NDArray[Any] | None, *, window_width: int, step_limit: float,
    window_limit: float, noise_factor: float,
) -> Burst:  # fmt: skip
    """`steps`: int64, ascending; `relative`: their finite relative errors; `noise`: those between two golden runs."""
    worst = NO_BURST
    for width in _widths(window_width):
        limit = max(window_limit, step_limit / math.sqrt(width))
        if noise is not None and len(noise) >= width:
            limit = max(limit, noise_factor * float(_means(noise, width).max()))
        means = _means(relative, width)
        first = int(means.argmax())
        error = float(means[first])
        if worst.steps is None or error / limit > worst.error / worst.limit:
            worst = Burst(
                width=width, error=error, limit=limit, steps=(int(steps[first]), int(steps[first + width - 1]))
            )
    return worst


def _widths(window_width: int) -> Iterator[int]:
    width = 2
    while width < window_width:
        yield width
        width *= 2


def _means(errors: NDArray[Any], width: int) -> NDArray[Any]:
    """Return the means of each `width` errors in a row, shape [errors - width + 1]."""
    most = np.finfo(np.float64).max / len(errors)
    sums = np.concatenate(([0.0], np.cumsum(np.clip(errors, 0.0, most))))
    return np.asarray((sums[width:] - sums[:-width]) / width)
