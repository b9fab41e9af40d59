"""Microseconds as decimal text to whole nanoseconds, exactly: float64 resolves only 0.25 µs at today's epoch."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from msgspec import Raw
    from numpy.typing import NDArray


NEVER = np.iinfo(np.int64).min  # stands for a time that is missing or cannot be
LAST = 1 << 62  # sums of two times stay within int64
QUOTE, POINT, ZERO = np.frombuffer(b'".0', np.uint8)

_NUMBER = re.compile(r"\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?\s*", re.ASCII)
_WIDE = Context(prec=120, rounding=ROUND_HALF_EVEN)


def nanoseconds(microseconds: str) -> int | None:
    """Return ns, rounded half to even. None for what is not a finite number or does not fit."""
    if len(microseconds) > 100 or not _NUMBER.fullmatch(microseconds):
        return None
    exact = Decimal(microseconds.strip())
    if exact.adjusted() > 20:
        return None
    time = int((exact * 1000).to_integral_value(ROUND_HALF_EVEN, _WIDE)) if exact.adjusted() > -60 else 0
    return time if abs(time) <= LAST else None


def parse_times(literals: Sequence[Raw]) -> NDArray[np.int64]:
    """Parse JSON literals, numbers or strings: int64 [n], ns; NEVER where it is not a time."""
    joined = np.frombuffer(b"".join(literals), np.uint8)
    if len(literals) and (alike := _alike(literals, joined)) is not None:
        return alike
    lengths = np.fromiter(map(len, literals), np.int64, len(literals))
    times = np.full(lengths.size, NEVER)
    begins = np.cumsum(lengths) - lengths
    for length in np.unique(lengths[lengths > 0]):
        rows = np.flatnonzero(lengths == length)
        times[rows] = _parse_equal_length(joined[begins[rows, None] + np.arange(length)])
    return times


def _alike(literals: Sequence[Raw], joined: NDArray[np.uint8]) -> NDArray[np.int64] | None:
    """Parse literals that are as long as the first and begin and end with quotes; None where they are not."""
    length = len(literals[0])
    if length < 3 or joined.size != length * len(literals):
        return None
    text = joined.reshape(len(literals), length)
    is_quote = text == QUOTE
    if not (is_quote[:, 0].all() and is_quote[:, -1].all()) or np.count_nonzero(is_quote) != 2 * len(literals):
        return None
    return _parse_equal_length(text)


def _parse_equal_length(text: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Parse uint8 [n, length], where most rows have quotes and point at the same positions as the first."""
    quoted = bool(text[0, 0] == QUOTE)
    inner = text[:, 1:-1] if quoted else text
    width = inner.shape[1]
    whole = (inner[0].tobytes() + b".").find(b".")
    if not 0 < whole <= 16 or width > whole + 4:
        return _parse_rows(text, np.full(len(text), NEVER), np.ones(len(text), np.bool_))
    digits = inner - ZERO
    times: NDArray[np.int64] = _joined(digits, [*range(whole), *range(whole + 1, width)]) * 10 ** (
        3 - max(0, width - whole - 1)
    )
    is_irregular = (times < 0) | (times > LAST)
    for of, column, mark in [(inner, whole, POINT)] * (whole < width) + [(text, 0, QUOTE), (text, -1, QUOTE)] * quoted:
        is_irregular |= of[:, column] != mark
    if is_irregular.any() or np.count_nonzero(digits > 9) > len(text) * (whole < width):
        is_irregular |= (np.delete(digits, whole, 1) if whole < width else digits).max(1) > 9
        return _parse_rows(text, times, is_irregular)
    return times


def _joined(digits: NDArray[np.uint8], columns: list[int]) -> NDArray[np.int64]:
    number = np.zeros(len(digits), np.int64)
    for column in columns:
        number *= 10
        number += digits[:, column]
    return number


def _parse_rows(
    text: NDArray[np.uint8], times: NDArray[np.int64], is_irregular: NDArray[np.bool_]
) -> NDArray[np.int64]:
    for row in np.flatnonzero(is_irregular).tolist():
        times[row] = _of_literal(text[row].tobytes())
    return times


def _of_literal(literal: bytes) -> int:
    time = nanoseconds(literal.decode("utf-8", "replace").strip('"'))
    return NEVER if time is None else time


# Below it, in ns, a float64 of microseconds errs by less than a thousandth: only what is near a half is in doubt.
CLEAR = 1e12
DOUBT = 1e-3

Spoken = float | str | None


def durations_of(spoken: Sequence[Spoken], text_of: Callable[[int], str]) -> NDArray[np.int64]:
    """Return int64 [n], ns; NEVER where a duration is missing, negative or not a finite number. `text_of`:
    returns the literal of one of them, where the float may differ from what was written."""
    try:
        scaled = np.fromiter(spoken, np.float64, len(spoken)) * 1000.0
        scaled[~np.isfinite(scaled)] = -1.0
    except (ValueError, TypeError, OverflowError):
        return np.array([_exactly(each, index, text_of) for index, each in enumerate(spoken)], np.int64)
    whole = np.rint(scaled)
    sure = (scaled >= 0) & (scaled < CLEAR) & (np.abs(np.abs(scaled - whole) - 0.5) > DOUBT)
    durations = np.where(sure, whole, 0).astype(np.int64)
    for index in np.flatnonzero(~sure).tolist():
        durations[index] = _exactly(spoken[index], index, text_of)
    return durations


def _exactly(spoken: Spoken, index: int, text_of: Callable[[int], str]) -> int:
    if spoken is None:
        return NEVER
    text = spoken if isinstance(spoken, str) else text_of(index) if abs(spoken) * 1000 >= CLEAR else repr(spoken)
    duration = nanoseconds(text)
    return NEVER if duration is None or duration < 0 else duration
