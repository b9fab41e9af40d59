"""How far apart two tensors are: one pass over both, in pieces that fit the processor's cache.

With d = target - golden, element by element, in float64 but for float32 and narrower (see `Sums._add`):

max_abs    max |d|                       mean_abs   mean |d|
max_rel    max |d| / |golden|            mean_rel   mean |d| / |golden|
l2_rel     |d| / |golden|, of the whole tensors: 0 where both are zero, infinite where only golden is
cosine     target · golden / (|target| |golden|): 1 where both are zero, NaN where one is
ulp        max |d| / ulp(golden): units in the last place of the golden value (where that is zero, of the target's) in
           the coarser of the two dtypes; where it is more than 4 it may be 6 % less; of integers and bools max |d|
under_1e3  share of elements with |d| / |golden| < 0.001; under_5e3: < 0.005

Where the golden element is zero its place is taken by the epsilon of float32 (of float64 where a side is that), as in
msprobe (core/compare/utils.py, get_relative_err): equal zeros count as 0. Complex numbers count as their two parts.
NaN and infinity: equal ones at the same place count nowhere, `nonfinite` says how many. Where only one side has one, or
another, the maxima are infinite, the element is under no limit, and means, l2_rel and cosine are those of the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from backends.precision.measure.sums import Sums

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from backends.precision.measure.formats import Array

CHUNK_ELEMENTS = 1 << 17
"""Elements of a piece: larger ones leave the caches, smaller ones cost more calls."""
SHAPES = "precision.measure.shapes"
LENGTH = "precision.measure.length"


class Tensor(Protocol):
    """A tensor in a file. `dtype` as "float32" or "bfloat16"; chunks: flat, in C order, of at most `count` elements,
    each only good until the next is asked for; what numpy has no dtype for comes as `formats.STORED` says."""

    @property
    def dtype(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    def chunks(self, count: int) -> Iterator[Array]: ...


@dataclass(frozen=True, kw_only=True)
class Measures:
    """See the module. All NaN and `reason` a key where nothing could be compared. `equal`: every element has the same
    value (0 and -0 too), `elements` of them; `nonfinite_differs`: where only one side is NaN or infinite;
    `nan`: where both are NaN, which are among `nonfinite`. `golden_rms`:
    the root mean square of the golden elements that are finite on both sides."""

    max_abs: float = math.nan
    max_rel: float = math.nan
    mean_abs: float = math.nan
    mean_rel: float = math.nan
    l2_rel: float = math.nan
    cosine: float = math.nan
    ulp: float = math.nan
    under_1e3: float = math.nan
    under_5e3: float = math.nan
    elements: int = 0
    nonfinite: int = 0
    nonfinite_differs: int = 0
    nan: int = 0
    equal: bool = False
    golden_rms: float = math.nan
    reason: str = ""


def measure(a: Tensor, b: Tensor, report: Callable[[], object] = lambda: None) -> Measures:
    """Measure a, the target, against b, the golden tensor; `reason` says where shapes do not allow it. `report` is
    called after each piece, and may raise. Raises what reading raises."""
    if tuple(a.shape) != tuple(b.shape):
        return Measures(reason=SHAPES)
    sums = Sums(a.dtype, b.dtype)
    with np.errstate(all="ignore"):
        for target_piece, golden_piece in pieces(a, b):
            if len(target_piece) != len(golden_piece):
                return Measures(reason=LENGTH)
            sums.add(target_piece, golden_piece)
            report()
        sums.end()
    return _measures(sums)


def pieces(a: Tensor, b: Tensor, count: int = CHUNK_ELEMENTS) -> Iterator[tuple[Array, Array]]:
    """Pieces of both, as they are stored; of different length only where a file is damaged."""
    others = iter(b.chunks(count))
    for target_piece in a.chunks(count):
        yield target_piece, next(others, target_piece[:0])


def _measures(sums: Sums) -> Measures:
    counted = sums.elements - sums.nonfinite
    finite = max(1, counted - sums.differing)
    under = [count / counted if counted else 1.0 for count in sums.under]
    worst = math.inf if sums.differing else 0.0
    return Measures(
        max_abs=max(sums.max_abs, worst), max_rel=max(sums.max_rel, worst), mean_abs=sums.sum_abs / finite,
        mean_rel=sums.sum_rel / finite, l2_rel=_l2(sums.dd, sums.bb),
        cosine=_cosine(sums.dd, sums.aa, sums.ab, sums.bb),
        ulp=max(sums.max_abs if sums.is_whole else sums.ulp, worst),
        under_1e3=under[0], under_5e3=under[1],
        elements=sums.elements, nonfinite=sums.nonfinite, nonfinite_differs=sums.differing,
        nan=sums.nan,
        equal=sums.max_abs == 0 and not sums.differing, golden_rms=math.sqrt(max(0.0, sums.bb) / finite),
    )  # fmt: skip


def _l2(dd: float, bb: float) -> float:
    if not bb:
        return math.inf if dd else 0.0
    return math.sqrt(dd) / math.sqrt(bb)


def _cosine(dd: float, aa: float, ab: float, bb: float) -> float:
    """Where the two are close by what is missing to 1, so that no digits are lost:
    1 - cos = (d·d - (|a| - |b|)²) / (2 |a| |b|) and |a| - |b| = (a·a - b·b) / (|a| + |b|)."""
    if not dd:
        return 1.0
    a, b = math.sqrt(aa), math.sqrt(bb)
    if not a or not b:
        return math.nan
    longer = (aa - bb) / (a + b)
    cosine = 1.0 - (dd - longer**2) / (2 * a * b) if dd < bb / 4 else ab / a / b
    return min(1.0, max(-1.0, cosine))
