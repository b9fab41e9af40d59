"""Whether the statistics of two tensors differ by more than the rounding of the sums that they were made with.

Largest and smallest element are taken from the tensor as they are; mean and norm are sums in float32, whose last digits
depend on the order of the summands: on the device, the threads and the version of the framework. Where the extremes of
both sides are the same, a mean or a norm that is off by ROUNDING says nothing. Where the extremes are whole numbers, as
of token ids or of a mask, elements in between may have changed by as little: that is worth a look.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.precision.config.result import Level

FIGURES = {"max", "min", "mean", "norm"}
EXTREMES = ("max", "min")
ROUNDING = 8 * 2.0**-23
"""Eight units of the last place of float32: of the norm for itself, of the largest element for the mean."""


def statistics_level(golden: Mapping[str, Any], target: Mapping[str, Any]) -> Level:
    """Return "pass" where the statistics are those of the same tensor, "warning" where they may be."""
    if any(
        isinstance(side.get(name), float) and math.isnan(side[name]) for side in (golden, target) for name in EXTREMES
    ):
        return "error"  # also on both sides: nothing says whether they agree
    if golden == target:
        return "pass"
    ours, others = _numbers(target), _numbers(golden)
    if ours is None or others is None or not _is_rounding(others, ours):
        return "error"
    high, low = others["max"], others["min"]
    is_whole = high.is_integer() and low.is_integer()
    return "warning" if is_whole and high != low else "pass"


def _numbers(side: Mapping[str, Any]) -> dict[str, float] | None:
    """Return the statistics as numbers, None where one is missing or not finite."""
    if side.keys() != FIGURES or not all(isinstance(value, int | float) for value in side.values()):
        return None
    numbers = {name: float(value) for name, value in side.items()}
    return numbers if all(map(math.isfinite, numbers.values())) else None


def _is_rounding(golden: dict[str, float], target: dict[str, float]) -> bool:
    if (golden["max"], golden["min"]) != (target["max"], target["min"]):
        return False
    largest = max(abs(golden["max"]), abs(golden["min"]))
    is_same_mean = abs(golden["mean"] - target["mean"]) <= ROUNDING * largest
    return is_same_mean and abs(golden["norm"] - target["norm"]) <= ROUNDING * abs(golden["norm"])
