"""How far apart two tensors are, as their statistics tell: relative to the size of the golden tensor's elements.

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
END = 2.0**-7
"""How near, relative, to the largest number of its dtype a value is one that a mask is made of: `finfo(dtype).min`, and
what a rounding in a sum before it makes of that."""

HIDDEN = 0.25
"""Of an eps: the distance of tensors whose digests differ though their statistics do not."""


def eps_of(dtype: str) -> float:
    """0 for what is no floating-point number."""
    return EPS.get(dtype, 2.0**-3 if dtype.startswith("float8") else 0.0)


def counts(side: Dump, rows: Array) -> Array:
    """Elements of each row's tensor; 1 where it is none."""
    sizes = np.array([*(np.prod(shape, dtype=np.float64) for shape in side.shapes), 1.0])
    return np.asarray(np.maximum(sizes[np.append(side.shape, -1)[rows]], 1.0))


def stats_of(side: Dump, rows: Array) -> Array:
    """(rows, 4), NaN where there is no such row."""
    return np.asarray(np.concatenate([side.stats, np.full((1, 4), np.nan)])[rows])


def largest(stats: Array) -> Array:
    """amax, of finite elements where the extremes are not; 0 where nothing is known."""
    ends = np.abs(stats[:, (MAX, MIN)])
    return np.asarray(np.where(np.isfinite(ends), ends, 0.0).max(axis=1, initial=0.0))


def typical(stats: Array, sizes: Array) -> Array:
    """rms; amax where there is no norm, or where elements that do not count (infinite ones) are in it."""
    rms, amax = stats[:, NORM] / np.sqrt(sizes), largest(stats)
    return np.asarray(np.where(np.isfinite(rms), np.minimum(rms, amax), amax))


def distances(mine: Array, theirs: Array, sizes: Array) -> Array:
    """d of statistics beside each other, (rows, 4) each; NaN where neither has anything to compare. Infinite where one
    is finite and the other is not."""
    amax = largest(theirs)
    scale = np.empty_like(theirs)
    scale[:, (MAX, MIN)] = np.where(amax > 0, amax, largest(mine))[:, None]
    rms = typical(theirs, sizes)
    scale[:, MEAN] = np.where(rms > 0, rms, typical(mine, sizes))
    scale[:, NORM] = np.where(np.abs(theirs[:, NORM]) > 0, np.abs(theirs[:, NORM]), np.abs(mine[:, NORM]))
    with np.errstate(all="ignore"):
        found = np.where(mine == theirs, 0.0, np.abs(mine - theirs) / scale)
    known = ~np.isnan(mine) & ~np.isnan(theirs)
    known[:, MEAN] &= ~(np.isinf(mine[:, (MAX, MIN)]) & np.isinf(theirs[:, (MAX, MIN)])).any(axis=1)
    # A norm that is infinite where no element is has overflowed by itself: msprobe takes it in the tensor's dtype.
    known[:, NORM] &= np.isfinite(mine[:, NORM]) & np.isfinite(theirs[:, NORM])
    found = np.where(known, np.where(np.isnan(found), np.inf, found), np.nan)
    return np.asarray(np.fmax.reduce(found, axis=1))


def ends(mine: Array, theirs: Array, largest: tuple[Array, Array]) -> tuple[Array, Array]:
    """Both sides' statistics with infinity for extremes that are at the end of each side's own dtype, or beyond, on
    both. Masks are made of `finfo(dtype).min`: -3.4e38 in float32 is what -1.8e308 is in float64, and one rounding more
    makes -inf of it. `largest`: of each row the largest number of each side's dtype."""
    found, others = mine.copy(), theirs.copy()
    for column in (MAX, MIN):
        one, other = mine[:, column], theirs[:, column]
        at_end = (np.abs(one) >= (1 - END) * largest[0]) & (np.abs(other) >= (1 - END) * largest[1])
        at_end &= np.sign(one) == np.sign(other)
        found[at_end, column] = others[at_end, column] = np.copysign(np.inf, one[at_end])
    return found, others


def has_nan(side: Dump, rows: Array) -> Array:
    """(rows, 4): where a statistic is there, and is NaN. MindSpore's largest and smallest element leave NaN out."""
    bits = np.append(side.has_stats, 0)[rows][:, None] >> np.arange(4) & 1
    return np.asarray(np.isnan(stats_of(side, rows)) & bits.astype(bool))


def has_inf(stats: Array) -> Array:
    """By the largest and the smallest element: a mean or a norm may overflow by itself."""
    return np.asarray(np.isinf(stats[:, (MAX, MIN)]).any(axis=1))
