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


def last_place(a: str, b: str) -> tuple[int, int]:
    """Precision and smallest exponent of the coarser of two dtypes."""
    return min((FLOATS[name] for name in (a, b) if name in FLOATS), default=FLOATS["float64"])


def is_whole(dtype: str) -> bool:
    """Whether its values are integers or bools."""
    return dtype.startswith(("int", "uint", "bool"))


def is_wide(dtype: str) -> bool:
    """Whether float32 does not hold its values."""
    return dtype in ("float64", "complex128", "int64", "uint64", "int32", "uint32")


def widened(piece: Array, dtype: str) -> Array:
    """A flat piece as numbers to compute with: halves as float32, a complex number as its two parts."""
    if piece.dtype == np.float32:
        return piece
    if dtype == "bfloat16" and piece.dtype == np.uint16:
        return bfloat16(piece)
    if piece.dtype.kind == "c":
        return np.ascontiguousarray(piece).view(piece.real.dtype)
    return half(piece) if piece.dtype == np.float16 else piece


def bfloat16(octets: Array) -> Array:
    """uint16 as float32: the upper half of it."""
    wide = octets.astype(np.uint32)
    wide <<= np.uint32(16)
    return wide.view(np.float32)


def half(piece: Array) -> Array:
    """float16 as float32, three times as fast as numpy: exponent and fraction moved to their place, the exponent's
    bias corrected by a product, which also is right for subnormal numbers."""
    bits = piece.view(np.uint16).astype(np.uint32)
    signs = bits & np.uint32(0x8000)
    signs <<= np.uint32(16)
    bits &= np.uint32(0x7FFF)
    bits <<= np.uint32(13)
    wide = bits.view(np.float32)
    wide *= np.float32(2.0**112)
    if np.maximum.reduce(wide, initial=0) >= 65536:  # infinity or NaN
        return piece.astype(np.float32)
    bits |= signs
    return wide


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
