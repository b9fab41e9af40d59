"""Numbers from cells, whatever was stored: integers, floats, digits as text. Anything else is absent."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from backends.timeline.db.pages import Records

    Bytes = NDArray[np.uint8]
    Numbers = NDArray[np.int64]
    Reals = NDArray[np.float64]

ABSENT = -(1 << 63)  # of whole numbers; a figure that is absent is NaN
NONE = 0xFFFFFFFF  # what torch_npu and msprof write for "none"
NULL, FLOAT, LITERAL_0, LITERAL_1, BLOB, TEXT = 0, 7, 8, 9, 12, 13
SIZES = np.array([0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0] + [(kind - BLOB) // 2 for kind in range(BLOB, 256)], np.int64)
_ZEROS = 0x3030303030303030
_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,30}\s*", re.ASCII)


def whole(cell: object) -> int:
    """Return a cell from sqlite3 as a whole number; floats are rounded, since they stand for counts of ns."""
    if isinstance(cell, str):
        return _parsed(cell)
    if isinstance(cell, float):
        return round(cell) if math.isfinite(cell) and abs(cell) < 2**63 else ABSENT
    return cell if isinstance(cell, int) else ABSENT


def real_number(cell: object) -> float:
    try:
        return float(cell) if isinstance(cell, int | float | str) else math.nan
    except ValueError:
        return math.nan


def _parsed(text: str) -> int:
    value = int(text) if _WHOLE.fullmatch(text) else ABSENT
    return value if ABSENT <= value < -ABSENT else ABSENT


def wholes(cells: Sequence[object]) -> Numbers:
    return np.array([whole(cell) for cell in cells], np.int64)


def figures(cells: Sequence[object]) -> Reals:
    return np.array([real_number(cell) for cell in cells], np.float64)


def only(kinds: Bytes) -> int:
    """Return the serial type that all cells share, if there is one and it takes one byte, else -1."""
    return int(kinds[0]) if len(kinds) and kinds[0] < 128 and bool((kinds == kinds[0]).all()) else -1


def integers(words: NDArray[Any], kinds: Bytes, end: Numbers) -> tuple[Numbers, Numbers]:
    """Return the stored whole numbers and the positions of all cells that hold something else. `kinds`: serial types;
    `end`: offsets of the bytes after the values."""
    if (same := only(kinds)) in (LITERAL_0, LITERAL_1):
        return np.full(len(kinds), same - LITERAL_0, np.int64), np.empty(0, np.int64)
    value: Numbers = words[end - 8].astype(np.int64)
    if 1 <= same < FLOAT:
        shift = 64 - 8 * int(SIZES[same])
        return (value << shift) >> shift if shift else value, np.empty(0, np.int64)
    shifts = (64 - 8 * SIZES)[np.where(kinds > FLOAT, NULL, kinds)]
    value = (value << shifts) >> shifts
    value[kinds == LITERAL_1] = 1
    return value, np.flatnonzero((kinds == NULL) | (kinds == FLOAT) | (kinds > LITERAL_1))


def whole_column(records: Records, words: NDArray[Any], kinds: Bytes, end: Numbers) -> Numbers:
    value, others = integers(words, kinds, end)
    if len(others):
        kind, stop = kinds[others], end[others]
        part = np.full(len(others), ABSENT, np.int64)
        at = np.flatnonzero(kind == FLOAT)
        part[at] = wholes(words[stop[at] - 8].astype(np.int64).view(np.float64).tolist())
        at = np.flatnonzero((kind >= TEXT) & (kind % 2 == 1))
        part[at] = _digits(records.data, SIZES[kind[at]], stop[at])
        value[others] = part
    return value


def figure_column(records: Records, words: NDArray[Any], kinds: Bytes, end: Numbers) -> Reals:
    value, others = integers(words, kinds, end)
    reals = value.astype(np.float64)
    if len(others):
        kind, stop = kinds[others], end[others]
        part = np.full(len(others), math.nan)
        at = np.flatnonzero(kind == FLOAT)
        part[at] = words[stop[at] - 8].astype(np.int64).view(np.float64)
        at = np.flatnonzero((kind >= TEXT) & (kind % 2 == 1))
        part[at] = figures(_texts(records.data, SIZES[kind[at]], stop[at]))
        reals[others] = part
    return reals


def _texts(data: Bytes, sizes: Numbers, end: Numbers) -> list[str]:
    bounds = zip((end - sizes).tolist(), end.tolist(), strict=True)
    return [data[begin:stop].tobytes().decode("utf-8", "replace") for begin, stop in bounds]


def _digits(data: Bytes, sizes: Numbers, end: Numbers) -> Numbers:
    """Parse whole numbers written as text, those of up to 19 digits eight digits at a time."""
    value = np.full(len(sizes), ABSENT, np.int64)
    for size in np.unique(sizes).tolist():
        at = np.flatnonzero(sizes == size)
        numbers, good = _of_size(data, size, end[at]) if 0 < size < 20 else (value[at], np.zeros(len(at), bool))
        value[at] = numbers
        bad = at[~good]
        value[bad] = wholes(_texts(data, sizes[bad], end[bad]))
    return value


def _of_size(data: Bytes, size: int, end: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
    words: NDArray[Any] = np.ndarray(len(data) - 7, "<u8", data, strides=(1,))
    value = np.zeros(len(end), np.uint64)
    good = np.ones(len(end), bool)
    for piece in range((size + 7) // 8):
        width = min(8, size - 8 * piece)
        dropped = np.uint64((1 << 8 * (8 - width)) - 1)
        word = words[end - 8 * (piece + 1)].astype(np.uint64) & ~dropped | np.uint64(_ZEROS) & dropped
        eight, fine = _eight(word)
        value += eight * np.uint64(10 ** (8 * piece))
        good &= fine
    good &= value < np.uint64(1 << 63)
    return value.view(np.int64), good


def _eight(word: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Parse eight digits in a word, the first one lowest:
    https://kholdstare.github.io/technical/2020/05/26/faster-integer-parsing.html"""
    digits = word - np.uint64(_ZEROS)
    high = np.uint64(0x8080808080808080)
    good = ((word + np.uint64(0x4646464646464646)) | digits | word) & high == 0
    pairs = (digits * np.uint64(10) + (digits >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
    fours = (pairs * np.uint64(100) + (pairs >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    return (fours * np.uint64(10000) + (fours >> np.uint64(32))) & np.uint64(0xFFFFFFFF), good
