"""How far apart two tensors are by their statistics: relative to the size of the golden tensor's elements.

With n elements, amax = max(|max|, |min|) and rms = norm / sqrt(n) of the golden side,

    d = max( |Δmax| / amax, |Δmin| / amax, |Δmean| / rms, |Δnorm| / norm )

The mean is held against rms and not against itself: means are often near zero, where a relative error says nothing
(msprobe's own does that and named a wrong layer for it). Integers and bools are equal (0) or not (1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.precision.dump.dump import MAX, MEAN, MIN, NORM

if TYPE_CHECKING:
    from backends.precision.compare.arrays import Array
    from backends.precision.dump.dump import Dump

EPS = {
    "float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7,
    "complex128": 2.0**-52, "complex64": 2.0**-23, "float": 2.0**-23, "double": 2.0**-52, "half": 2.0**-10,
    "float8_e4m3fn": 2.0**-3, "float8_e5m2": 2.0**-2, "hifloat8": 2.0**-2,
}  # fmt: skip
"""The distance of 1 to the next larger number of a dtype: one ulp of 1; the unit roundoff is half of it."""

LARGEST = {
    "float64": 1.7976931348623157e308, "float32": 3.4028234663852886e38, "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38, "double": 1.7976931348623157e308, "float": 3.4028234663852886e38,
    "half": 65504.0,
}  # fmt: skip
"""The largest number of a dtype."""


def eps_of(dtype: str) -> float:
    """Return the eps of a dtype, 0 of what is no floating-point number."""
    return EPS.get(dtype, 2.0**-3 if dtype.startswith("float8") else 0.0)


def counts(side: Dump, rows: Array) -> Array:
    """Return the elements of each row's tensor; 1 where it is none."""
    sizes = np.array([*(np.prod(shape, dtype=np.float64) for shape in side.shapes), 1.0])
    return np.asarray(np.maximum(sizes[np.append(side.shape, -1)[rows]], 1.0))


def stats_of(side: Dump, rows: Array) -> Array:
    """Return the statistics of rows of a dump, (rows, 4), NaN where there is no such row."""
    return np.asarray(np.concatenate([side.stats, np.full((1, 4), np.nan)])[rows])


def largest(stats: Array) -> Array:
    """Return amax, of finite elements where the extremes are not; 0 where nothing is known."""
    ends = np.abs(stats[:, (MAX, MIN)])
    return np.asarray(np.where(np.isfinite(ends), ends, 0.0).max(axis=1, initial=0.0))


def typical(stats: Array, sizes: Array) -> Array:
    """Return rms; amax where there is no norm, or where elements that do not count (infinite ones) are in it."""
    rms, amax = stats[:, NORM] / np.sqrt(sizes), largest(stats)
    return np.asarray(np.where(np.isfinite(rms), np.minimum(rms, amax), amax))


def distances(target: Array, golden: Array, sizes: Array) -> Array:
    """Return d of statistics side by side, (rows, 4) each; NaN where neither has anything to compare, infinite where
    one is finite and the other is not. `sizes`: elements of each golden tensor."""
    amax = largest(golden)
    scale = np.empty_like(golden)
    scale[:, (MAX, MIN)] = np.where(amax > 0, amax, largest(target))[:, None]
    rms = typical(golden, sizes)
    scale[:, MEAN] = np.where(rms > 0, rms, typical(target, sizes))
    scale[:, NORM] = np.where(np.abs(golden[:, NORM]) > 0, np.abs(golden[:, NORM]), np.abs(target[:, NORM]))
    with np.errstate(all="ignore"):
        relative = np.where(target == golden, 0.0, np.abs(target - golden) / scale)
    is_comparable = ~np.isnan(target) & ~np.isnan(golden)
    is_comparable[:, MEAN] &= ~(np.isinf(target[:, (MAX, MIN)]) & np.isinf(golden[:, (MAX, MIN)])).any(axis=1)
    # A norm that is infinite where no element is has overflowed by itself: msprobe takes it in the tensor's dtype.
    is_comparable[:, NORM] &= np.isfinite(target[:, NORM]) & np.isfinite(golden[:, NORM])
    relative = np.where(is_comparable, np.where(np.isnan(relative), np.inf, relative), np.nan)
    return np.asarray(np.fmax.reduce(relative, axis=1))


def with_infinite_ends(target: Array, golden: Array, limits: tuple[Array, Array], margin: float) -> tuple[Array, Array]:
    """Return both sides' statistics with infinity for extremes that are at the end of each side's own dtype, or beyond,
    on both. Masks are made of `finfo(dtype).min`: -3.4e38 in float32 is what -1.8e308 is in float64, and one rounding
    more makes -inf of it. `limits`: the largest number of each side's dtype; `margin`: how near to it counts."""
    statistics, others = target.copy(), golden.copy()
    for column in (MAX, MIN):
        extremes, golden_extremes = target[:, column], golden[:, column]
        at_end = np.abs(extremes) >= (1 - margin) * limits[0]
        at_end &= np.abs(golden_extremes) >= (1 - margin) * limits[1]
        at_end &= np.sign(extremes) == np.sign(golden_extremes)
        statistics[at_end, column] = others[at_end, column] = np.copysign(np.inf, extremes[at_end])
    return statistics, others


def has_nan(side: Dump, rows: Array) -> Array:
    """Return where a statistic was written and is NaN, (rows, 4). MindSpore's extremes leave NaN out."""
    bits = np.append(side.has_stats, 0)[rows][:, None] >> np.arange(4) & 1
    return np.asarray(np.isnan(stats_of(side, rows)) & bits.astype(bool))


def has_inf(stats: Array) -> Array:
    """Return where an extreme is infinite: a mean or a norm may overflow by itself."""
    return np.asarray(np.isinf(stats[:, (MAX, MIN)]).any(axis=1))
