"""How far apart two tensors are: one pass over both, in pieces that fit the processor's cache.

With d = target - golden, element by element, in float64 but for float32 and narrower (see `_Sums._add`):

max_abs    max |d|                       mean_abs   mean |d|
max_rel    max |d| / |golden|            mean_rel   mean |d| / |golden|
l2_rel     |d| / |golden|, of the whole tensors: 0 where both are zero, infinite where only golden is
cosine     target · golden / (|target| |golden|): 1 where both are zero, NaN where one is
ulp        max |d| / ulp(golden): units in the last place of the golden value (where that is zero, of the target's) in
           the coarser of the two dtypes; of integers and bools max |d|
under_1e3  share of elements with |d| / |golden| < 0.001; under_5e3: < 0.005

Where the golden element is zero its place is taken by the epsilon of float32 (of float64 where a side is that), as in
msprobe (core/compare/utils.py, get_relative_err): equal zeros count as 0. Complex numbers count as their two parts.
NaN and infinity: equal ones at the same place count nowhere, `nonfinite` says how many. Where only one side has one, or
another, the maxima are infinite, the element is under no limit, and means, l2_rel and cosine are those of the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from backends.precision.measure.formats import is_whole, is_wide, last_place, widened

if TYPE_CHECKING:
    from collections.abc import Iterator

Array = np.ndarray[Any, Any]
CHUNK = 1 << 16
WIDE = 1 << 14
"""Elements of a piece that is computed in float64: its arrays fit the cache too."""
LIMITS = (1e-3, 5e-3)
SHAPES = "precision.measure.shapes"
LENGTH = "precision.measure.length"
SMALLEST, LARGEST = 1e-16, 1e15
"""Magnitudes whose squares float32 can add."""


class Tensor(Protocol):
    """A tensor in a file. `dtype` as "float32" or "bfloat16"; chunks: flat, in C order, of at most `count` elements,
    each only good until the next is asked for; what numpy has no dtype for comes as float32, or bfloat16 as uint16."""

    @property
    def dtype(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    def chunks(self, count: int) -> Iterator[Array]: ...


@dataclass(frozen=True, kw_only=True)
class Measures:
    """See the module. All NaN and `reason` a key where nothing could be compared. `equal`: every element has the same
    value (0 and -0 too), `elements` of them; `nonfinite_differs`: where only one side is NaN or infinite."""

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
    equal: bool = False
    reason: str = ""


def measure(a: Tensor, b: Tensor) -> Measures:
    """Of a, the target, against b, the golden tensor; `reason` says where shapes do not allow it. Raises what reading
    raises."""
    if tuple(a.shape) != tuple(b.shape):
        return Measures(reason=SHAPES)
    sums = _Sums(a.dtype, b.dtype)
    for one, other in pieces(a, b):
        if len(one) != len(other):
            return Measures(reason=LENGTH)
        sums.add(one, other)
    return sums.measures()


def pieces(a: Tensor, b: Tensor, count: int = CHUNK) -> Iterator[tuple[Array, Array]]:
    """Pieces of both, as numbers that numpy computes with; of different length only where a file is damaged."""
    count = count // 2 if "complex" in a.dtype + b.dtype else count
    others = iter(b.chunks(count))
    for one in a.chunks(count):
        other = next(others, one[:0])
        yield widened(one, a.dtype), widened(other, b.dtype)


class _Room:
    """What a piece is computed in, used again for each. The arrays begin at different places of a page: a store and a
    load 4096 octets apart hold each other up, and took half of the time."""

    def __init__(self, dtype: type[np.floating[Any]], count: int) -> None:
        room = np.empty(2 * count + 512, dtype)
        self.difference, self.relative = room[128 : count + 128], room[count + 256 : 2 * count + 256]
        self.ones = np.ones(count, dtype)
        self.is_wide = dtype is np.float64


class _Sums:
    """What has been added up so far, over elements where both sides are finite."""

    def __init__(self, a: str, b: str) -> None:
        self.precision, self.lowest = last_place(a, b)
        self.epsilon = float(np.finfo(np.float64 if is_wide(a) or is_wide(b) else np.float32).eps)
        self.is_whole = is_whole(a) and is_whole(b)
        self.max_abs = self.max_rel = self.ulp = 0.0
        self.sum_abs = self.sum_rel = 0.0
        self.dd = self.aa = self.ab = self.bb = 0.0
        """Sums of products: d·d, a·a, a·b, b·b."""
        self.under = [0, 0]
        self.elements = self.nonfinite = self.differing = 0
        self.narrow, self.wide = _Room(np.float32, CHUNK), _Room(np.float64, WIDE)

    def add(self, a: Array, b: Array) -> None:
        """Two pieces of one length, at most CHUNK elements."""
        self.elements += len(a)
        with np.errstate(all="ignore"):
            if a.dtype == b.dtype == np.float32 and self._add(a, b, self.narrow):
                return
            for begin in range(0, len(a), WIDE):
                self._add_wide(a[begin : begin + WIDE], b[begin : begin + WIDE])

    def _add_wide(self, a: Array, b: Array) -> None:
        exact = _whole_difference(a, b)
        a, b = a.astype(np.float64, copy=False), b.astype(np.float64, copy=False)
        if self._add(a, b, self.wide, exact):
            return
        keep = np.isfinite(a) & np.isfinite(b)
        both = int(np.count_nonzero(((a == b) | (np.isnan(a) & np.isnan(b))) & ~keep))
        self.nonfinite += both
        self.differing += len(a) - int(np.count_nonzero(keep)) - both
        self._add(a[keep], b[keep], self.wide, is_forced=True)

    def _add(self, a: Array, b: Array, room: _Room, exact: Array | None = None, *, is_forced: bool = False) -> bool:
        """False, and nothing added, where something is not finite, or float32 does not hold a square. In float32
        differences are exact where the two are close, and sums of products, by BLAS, are good to five digits or more.
        `exact`: the difference, where it is known better. `is_forced`: added all the same."""
        count = len(a)
        difference, relative, ones = room.difference[:count], room.relative[:count], room.ones[:count]
        np.subtract(a, b, out=difference)
        if exact is not None:
            difference[:] = exact
        np.divide(difference, b, out=relative)
        np.abs(relative, out=relative)
        sum_rel = float(np.dot(relative, ones))
        if not math.isfinite(sum_rel):
            np.fmax(relative, 0, out=relative)  # 0 / 0; what is NaN itself shows in the squares
            self._where_golden_is_zero(np.flatnonzero(relative == np.inf), relative, difference, b)
            sum_rel = float(np.dot(relative, ones))
        dd, aa, ab, bb = (float(np.dot(*pair)) for pair in ((difference, difference), (a, a), (a, b), (b, b)))
        np.abs(difference, out=difference)
        largest = float(np.maximum.reduce(difference, initial=0))
        if not is_forced and not (math.isfinite(sum_rel + dd + aa + ab + bb) and _holds(room, largest, aa, bb)):
            return False
        self.max_abs = max(self.max_abs, largest)
        self.sum_abs += float(np.dot(difference, ones))
        self.sum_rel += sum_rel
        self.dd, self.aa, self.ab, self.bb = self.dd + dd, self.aa + aa, self.ab + ab, self.bb + bb
        self._add_relative(relative, difference, b)
        return True

    def _add_relative(self, relative: Array, difference: Array, golden: Array) -> None:
        """A value is less than 2**precision of its units, so that only elements of a large relative distance can have
        more units than what was found before."""
        largest = float(np.maximum.reduce(relative, initial=0))
        self.max_rel = max(self.max_rel, largest)
        for place, limit in enumerate(LIMITS):
            self.under[place] += len(relative) if largest < limit else int(np.count_nonzero(relative < limit))
        enough = self.ulp / 2.0**self.precision
        if largest > enough:
            self._last_places_at(np.flatnonzero(relative > enough), difference, golden)

    def _where_golden_is_zero(self, places: Array, relative: Array, difference: Array, golden: Array) -> None:
        """Sets their relative distance, and looks at their units, of which they have many at any distance."""
        divisor = np.abs(golden[places])
        divisor[divisor == 0] = self.epsilon
        relative[places] = np.abs(difference[places]) / divisor
        self._last_places_at(places, difference, golden)

    def _last_places_at(self, places: Array, difference: Array, golden: Array) -> None:
        """The exponents of the golden values, without their fractions, give the unit of each."""
        distance, values = np.abs(difference[places]).astype(np.float64), golden[places]
        values = np.where(values == 0, distance, values)
        exponents = np.maximum(np.frexp(values)[1] - 1, self.lowest) - (self.precision - 1)
        units = np.ldexp(distance, -exponents)
        self.ulp = max(self.ulp, float(np.maximum.reduce(units, initial=0)))

    def measures(self) -> Measures:
        counted = self.elements - self.nonfinite
        finite = max(1, counted - self.differing)
        under = [count / counted if counted else 1.0 for count in self.under]
        worst = math.inf if self.differing else 0.0
        return Measures(
            max_abs=max(self.max_abs, worst), max_rel=max(self.max_rel, worst), mean_abs=self.sum_abs / finite,
            mean_rel=self.sum_rel / finite, l2_rel=_l2(self.dd, self.bb),
            cosine=_cosine(self.dd, self.aa, self.ab, self.bb),
            ulp=max(self.max_abs if self.is_whole else self.ulp, worst),
            under_1e3=under[0], under_5e3=under[1],
            elements=self.elements, nonfinite=self.nonfinite, nonfinite_differs=self.differing,
            equal=self.max_abs == 0 and not self.differing,
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


def _holds(room: _Room, largest: float, aa: float, bb: float) -> bool:
    """Whether the squares of these differences, at most `largest`, and of the values are in the range of the room's
    numbers."""
    is_inside = SMALLEST < largest < LARGEST and min(aa, bb) > SMALLEST**2 and max(aa, bb) < LARGEST**2
    return is_inside or not largest or room.is_wide


def _whole_difference(a: Array, b: Array) -> Array | None:
    """Of 64-bit integers, which float64 cannot tell apart beyond 2**53: exact where they are close."""
    if not (a.dtype == b.dtype and a.dtype.kind in "iu" and a.dtype.itemsize == 8):
        return None
    rough = a.astype(np.float64) - b.astype(np.float64)
    exact = (a.view(np.int64) - b.view(np.int64)).astype(np.float64)
    return np.where(np.abs(rough) < 2.0**62, exact, rough)
