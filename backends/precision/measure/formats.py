"""Number formats: their precision, and how numpy is given what it has no dtype for."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from studio.events import Number

Array = np.ndarray[Any, Any]

FLOATS = {
    "float64": (53, -1022), "float32": (24, -126), "float16": (11, -14), "bfloat16": (8, -126),
    "float8_e4m3fn": (4, -6), "float8_e5m2": (3, -14), "complex128": (53, -1022), "complex64": (24, -126),
}  # fmt: skip
"""Bits of the significand with the one that is not stored, and the smallest exponent of a normal number (IEEE 754
table 3.5; bfloat16: the upper half of a float32; OCP 8-bit floating point specification, table 1)."""
STORAGE_DTYPES = {"bfloat16": "uint16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}
"""What lies in a file for dtypes that numpy lacks."""
INFINITE = 0x7C00
"""A float16 of these bits or more, but for the sign, is infinite or NaN."""


def last_place_exponents(a: str, b: str) -> tuple[int, int]:
    """Precision and smallest exponent of the coarser of two dtypes."""
    return min((FLOATS[name] for name in (a, b) if name in FLOATS), default=FLOATS["float64"])


def is_whole(dtype: str) -> bool:
    """Whether its values are integers or bools."""
    return dtype.startswith(("int", "uint", "bool"))


def is_wide(dtype: str) -> bool:
    """Whether float32 does not hold its values."""
    return dtype in ("float64", "complex128", "int64", "uint64", "int32", "uint32")


def storage_dtype(dtype: str) -> np.dtype[Any]:
    """How its elements lie in a file. Raises TypeError where that is not known."""
    return np.dtype(STORAGE_DTYPES.get(dtype, dtype)).newbyteorder("<")


def widened(piece: Array, dtype: str, room: Array | None = None) -> Array:
    """A flat piece of stored elements as numbers to compute with: float32 where that holds each value, a complex number
    as its two parts. `room`: float32, at least as long, in which they may be written."""
    room = np.empty(len(piece), np.float32) if room is None else room[: len(piece)]
    if piece.dtype == np.float32:
        return piece
    if piece.dtype.kind == "c":
        return np.ascontiguousarray(piece).view(piece.real.dtype)
    if dtype == "bfloat16" and piece.dtype == np.uint16:
        return bfloat16(piece, room)
    if dtype.startswith("float8") and piece.dtype == np.uint8:
        return np.take(float8(dtype), piece, out=room, mode="clip")
    if piece.dtype == np.float16:
        return half(piece, room)
    if piece.dtype.kind in "iub" and piece.dtype.itemsize <= 2:
        room[:] = piece
        return room
    return piece


def bfloat16(raw: Array, room: Array) -> Array:
    """uint16 as float32: the upper half of it."""
    wide = room.view(np.uint32)
    wide[:] = raw
    wide <<= np.uint32(16)
    return room


def half(piece: Array, room: Array) -> Array:
    """float16 as float32, several times as fast as numpy: sign, exponent and fraction moved to their place, the
    exponent's bias corrected by a product, which also is right for subnormal numbers."""
    if np.maximum.reduce(piece.view(np.int16), initial=0) >= INFINITE or (
        np.maximum.reduce(piece.view(np.uint16), initial=0) >= INFINITE | 1 << 15
    ):
        room[:] = piece
        return room
    bits = room.view(np.int32)
    bits[:] = piece.view(np.int16)
    bits <<= np.int32(13)
    bits &= np.int32(~(7 << 28))  # of the sign, which fills what is above, one bit stays
    room *= np.float32(2.0**112)
    return room


@lru_cache(maxsize=2)
def float8(dtype: str) -> Array:
    """The float32 values of all 256. e5m2 is the upper half of a float16; e4m3fn has a bias of 7, no infinity, and NaN
    only where all bits but the sign are set (OCP 8-bit floating point specification, table 1)."""
    codes = np.arange(256)
    if dtype == "float8_e5m2":
        return (codes.astype(np.uint16) << 8).view(np.float16).astype(np.float32)
    exponent, fraction = codes >> 3 & 15, codes & 7
    size = np.where(exponent == 0, fraction / 8 * 2.0**-6, (1 + fraction / 8) * 2.0 ** (exponent - 7.0))
    size[codes & 127 == 127] = np.nan
    return np.where(codes & 128, -size, size).astype(np.float32)


def number(value: float) -> Number:
    """JSON has no NaN: a non-finite number is a string."""
    if math.isfinite(value):
        return value
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
