"""What the measures of two tensors are made from, added up piece by piece."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from backends.precision.measure.formats import Array, is_whole, is_wide, last_place_exponents, widened

MANY = 1 << 14
"""Elements that are kept until they are worth a piece of their own."""
WIDE = 1 << 14
"""Elements of a piece that is computed in float64: its arrays fit the cache too."""
PART = 1 << 13
LIMITS = (1e-3, 5e-3)
BITS = {"f": np.int32, "d": np.int64}
MASKS = {"f": np.int32(0xFF << 23), "d": np.int64(0x7FF << 52)}
"""The bits of an exponent."""
FEW_BITS = 24
"""Picking out one of so many elements costs less than computing with all."""
AGAIN = 8
"""After so many pieces most of whose elements differ it is looked again whether they still do."""
SLACK = 17 / 16
"""So much less than the largest number of units may be told; up to 4, where it is a multiple of 1/4, it is exact."""
NOWHERE = np.empty(0, np.intp)
SMALLEST, LARGEST = 1e-16, 1e15
"""Magnitudes whose squares float32 can add."""


class Room:
    """What a piece is computed in, used again for each. The arrays begin at different places of a page: a store and a
    load 4096 bytes apart hold each other up, and took half of the time."""

    def __init__(self, dtype: type[np.floating[Any]], count: int) -> None:
        room = np.empty(4 * (count + 128), dtype)
        begins = range(128, len(room), count + 128)
        self.difference, self.relative, *self.widened = (room[begin : begin + count] for begin in begins)
        self.is_wide = dtype is np.float64


class Sums:
    """What has been added up so far, over elements where both sides are finite."""

    def __init__(self, a: str, b: str) -> None:
        self.precision, self.lowest = last_place_exponents(a, b)
        self.epsilon = float(np.finfo(np.float64 if is_wide(a) or is_wide(b) else np.float32).eps)
        self.is_whole = is_whole(a) and is_whole(b)
        self.max_abs = self.max_rel = self.ulp = 0.0
        self.sum_abs = self.sum_rel = 0.0
        self.dd = self.aa = self.ab = self.bb = 0.0
        """Sums of products: d·d, a·a, a·b, b·b."""
        self.under = [0, 0]
        self.elements = self.nonfinite = self.nan = self.differing = 0
        self.dtypes = (a, b)
        self.rooms: dict[type[Any], Room] = {}
        self.pieces = 0
        """Those of which most elements differ."""
        self.few: list[tuple[Array, Array]] = []
        self.counted = 0

    def add(self, a: Array, b: Array) -> None:
        """Two pieces of one length as they are stored; none is longer than the first. Divides by zero."""
        if self.pieces % AGAIN == 0 and self._add_few(a, b):
            return
        self.pieces += 1
        self._add_all(a, b)

    def _add_few(self, a: Array, b: Array) -> bool:
        """Where the bytes of all but few elements are the same: the others only count in the sums of products. False,
        and nothing added, where it is not so or something is not finite."""
        if self.dtypes[0] != self.dtypes[1] or a.dtype != b.dtype or a.dtype.kind == "c":
            return False
        bits = f"u{a.itemsize}"
        differs = a.view(bits) != b.view(bits)
        count = int(np.count_nonzero(differs))
        if count > len(a) / FEW_BITS:
            return False
        room = self._room(np.float32, len(a))
        bb, is_exact = _square(widened(b, self.dtypes[1], room.widened[1]))
        if not is_exact:
            return False
        if count:
            self.few.append((a[differs], b[differs]))
            self.counted += count
        equal = len(differs) - count
        self.elements += equal
        self.under = [under + equal for under in self.under]
        self._add_squares(bb)
        if self.counted > MANY:
            self.end()
        return True

    def _add_squares(self, bb: float) -> None:
        """Add the squares of elements that are the same on both sides."""
        self.aa, self.ab, self.bb = self.aa + bb, self.ab + bb, self.bb + bb

    def end(self) -> None:
        """Adds the elements that are kept until there are many."""
        if self.few:
            a, b = (np.concatenate(pieces) for pieces in zip(*self.few, strict=True))
            self._add_squares(-_square(widened(b, self.dtypes[1]))[0])  # they were taken for the same
            self._add_all(a, b)
            self.few, self.counted = [], 0

    def _add_all(self, a: Array, b: Array) -> None:
        if (a.dtype.kind == "c") != (b.dtype.kind == "c"):
            a, b = a.astype(np.complex128), b.astype(np.complex128)
        room = self._room(np.float32, len(a))
        a, b = (widened(piece, self.dtypes[side], room.widened[side]) for side, piece in enumerate((a, b)))
        self.elements += len(a)
        if a.dtype == b.dtype == np.float32 and self._add(a, b):
            return
        for begin in range(0, len(a), WIDE):
            self._add_wide(a[begin : begin + WIDE], b[begin : begin + WIDE])

    def _add_wide(self, a: Array, b: Array) -> None:
        exact = _whole_difference(a, b)
        a, b = a.astype(np.float64, copy=False), b.astype(np.float64, copy=False)
        if self._add(a, b, exact):
            return
        keep = np.isfinite(a) & np.isfinite(b)
        both = int(np.count_nonzero(((a == b) | (np.isnan(a) & np.isnan(b))) & ~keep))
        self.nonfinite += both
        self.nan += int(np.count_nonzero(np.isnan(a) & np.isnan(b)))
        self.differing += len(a) - int(np.count_nonzero(keep)) - both
        self._add(a[keep], b[keep], is_forced=True)

    def _add(self, a: Array, b: Array, exact: Array | None = None, *, is_forced: bool = False) -> bool:
        """False, and nothing added, where something is not finite, or float32 does not hold a square. In float32
        differences are exact where the two are close, and sums of products, by BLAS, are good to five digits or more.
        `exact`: the difference, where it is known better. `is_forced`: added all the same."""
        count, room = len(a), self._room(a.dtype.type, len(a))
        difference, relative = room.difference[:count], room.relative[:count]
        np.subtract(a, b, out=difference)
        if exact is not None:
            difference[:] = exact
        np.divide(difference, b, out=relative)
        np.abs(relative, out=relative)
        sum_rel = float(np.einsum("i->", relative))
        at_zero = NOWHERE
        if not math.isfinite(sum_rel):
            np.fmax(relative, 0, out=relative)  # 0 / 0; what is NaN itself shows in the squares
            sum_rel = float(np.einsum("i->", relative))
            if not math.isfinite(sum_rel):
                at_zero = self._where_golden_is_zero(relative, difference, b)
                sum_rel = float(np.einsum("i->", relative))
        dd, ab, bb = _dot(difference, difference), _dot(a, b), _dot(b, b)
        aa = 2 * ab - bb + dd if dd < bb / 4 else _dot(a, a)  # of a = b + d; no digits are lost where d is small
        np.abs(difference, out=difference)
        largest = float(np.maximum.reduce(difference, initial=0))
        if not is_forced and not (math.isfinite(sum_rel + dd + aa + ab + bb) and _holds(room, largest, aa, bb)):
            return False
        self.max_abs = max(self.max_abs, largest)
        self.sum_abs += float(np.einsum("i->", difference))
        self.sum_rel += sum_rel
        self.dd, self.aa, self.ab, self.bb = self.dd + dd, self.aa + aa, self.ab + ab, self.bb + bb
        difference[at_zero] = 0  # their units are known
        self._add_relative(relative, difference, b)
        return True

    def _room(self, dtype: type[Any], count: int) -> Room:
        """The first piece is as long as any, but for the parts of complex numbers."""
        room = self.rooms.get(dtype)
        if room is None or len(room.difference) < count:
            room = self.rooms[dtype] = Room(dtype, count)
        return room

    def _add_relative(self, relative: Array, difference: Array, golden: Array) -> None:
        """A value is less than 2**precision of its units, so that only elements of a large relative distance can have
        more units than what was found before; SLACK more, since a few always have nearly as many."""
        largest = float(np.maximum.reduce(relative, initial=0))
        self.max_rel = max(self.max_rel, largest)
        for column, limit in enumerate(LIMITS):
            self.under[column] += len(relative) if largest < limit else int(np.count_nonzero(relative < limit))
        max_ulp = self.ulp * SLACK / 2.0**self.precision
        if largest > max_ulp:
            places = np.flatnonzero(relative > max_ulp)  # taking by places is faster than by a mask, twice
            if len(places) < len(relative) / FEW_BITS:
                difference, golden = difference[places], golden[places]
            self._last_places(difference, golden)

    def _where_golden_is_zero(self, relative: Array, difference: Array, golden: Array) -> Array:
        """Correct what a division by zero made infinite: sets the relative distance, and looks at the units of the
        target. Returns the places."""
        places = np.flatnonzero(relative == np.inf)
        distance, divisor = np.abs(difference[places]), np.abs(golden[places])
        relative[places] = distance / np.where(divisor == 0, relative.dtype.type(self.epsilon), divisor)
        self._last_places(distance, np.where(divisor == 0, distance, divisor))
        return places

    def _last_places(self, distance: Array, values: Array) -> None:
        """The exponent of a value, without its fraction, gives its unit."""
        powers = (values.view(BITS[values.dtype.char]) & MASKS[values.dtype.char]).view(values.dtype)
        np.maximum(powers, 2.0**self.lowest, out=powers)
        np.divide(distance, powers, out=powers)
        largest = float(np.maximum.reduce(powers, initial=0)) * 2.0 ** (self.precision - 1)
        self.ulp = max(self.ulp, largest) if math.isfinite(largest) else self.ulp


def _dot(a: Array, b: Array) -> float:
    """Return a dot product by BLAS, a part at a time: of more than 10,000 elements OpenBLAS makes work for threads,
    which wait spinning (kernel/x86_64/ddot.c, kernel/arm64/dot.c)."""
    whole = len(a) // PART * PART
    parts = np.matmul(a[:whole].reshape(-1, 1, PART), b[:whole].reshape(-1, PART, 1)).ravel().tolist()
    rest = float(np.dot(a[whole:], b[whole:])) if whole < len(a) else 0.0
    return sum(parts, rest)


def _square(values: Array) -> tuple[float, bool]:
    """Its product with itself, and whether that is finite and float32 holds its squares."""
    values = values if values.dtype.kind == "f" else values.astype(np.float64)
    square = _dot(values, values)
    is_inside = values.dtype == np.float64 or SMALLEST**2 < square < LARGEST**2
    return square, math.isfinite(square) and (is_inside or not values.any())


def _holds(room: Room, largest: float, aa: float, bb: float) -> bool:
    """Whether the squares of these differences, at most `largest`, and of the values are in the range of the room's
    numbers."""
    is_inside = SMALLEST < largest < LARGEST and min(aa, bb) > SMALLEST**2 and max(aa, bb) < LARGEST**2
    return is_inside or not largest or room.is_wide


def _whole_difference(a: Array, b: Array) -> Array | None:
    """Return the difference of 64-bit integers, which float64 cannot tell apart beyond 2**53: exact where they are
    close."""
    if not (a.dtype == b.dtype and a.dtype.kind in "iu" and a.dtype.itemsize == 8):
        return None
    rough = a.astype(np.float64) - b.astype(np.float64)
    exact = (a.view(np.int64) - b.view(np.int64)).astype(np.float64)
    return np.where(np.abs(rough) < 2.0**62, exact, rough)
