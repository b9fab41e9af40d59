"""What cells say: exact nanoseconds and finite figures, one or a column of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.text.times import nanoseconds as exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

US, NS = 3, 0
"""Units of a time, as digits behind the point that are nanoseconds."""

_POINT, _ZERO, _COMMA = b".0,"
_LAST = 2**62


def nanoseconds(text: str, digits: int = US) -> int | None:
    """None for what is no decimal, negative, not finite or out of range. Never by way of a float, which would lose the
    last hundreds of ns of a time since the epoch."""
    text = text.strip()
    plain = text[:-4] + text[-3:] if digits == US and text[-4:-3] == "." else "" if digits == US else text
    if len(plain) < 20 and plain.isascii() and plain.isdigit():
        found: int | None = int(plain)  # the usual one, three times as fast
    else:
        found = exact(text) if digits == US else None
    return found if found is not None and 0 <= found < _LAST else None


def times_of(cells: Sequence[str], digits: int = US) -> NDArray[np.int64]:
    """int64 [n]; 0 where there is no time."""
    found = _alike(cells) if digits == US and len(cells) else None
    if found is None:
        found = np.fromiter((nanoseconds(cell, digits) or 0 for cell in cells), np.int64)
    return found


def _alike(cells: Sequence[str]) -> NDArray[np.int64] | None:
    """Where all are decimals of one length, with a point before the last three digits; else None."""
    length = len(cells[0])
    joined = np.frombuffer((",".join(cells) + ",").encode(), np.uint8)
    if not 4 < length <= 20 or joined.size != (length + 1) * len(cells):
        return None
    text = joined.reshape(len(cells), length + 1)
    if not ((text[:, length - 4] == _POINT).all() and (text[:, length] == _COMMA).all()):
        return None
    ciphers = np.delete(text, (length - 4, length), axis=1).astype(np.int64) - _ZERO
    if ciphers.min() < 0 or ciphers.max() > 9 or (length == 20 and ciphers[:, 0].max() > 3):  # 4e18 is near 2**62
        return None
    return ciphers @ (10 ** np.arange(length - 2, -1, -1, dtype=np.int64))


def figure(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def figures_of(cells: Sequence[str]) -> NDArray[np.float64]:
    """float64 [n]; NaN where there is no finite figure."""
    try:
        found = np.array([float(cell) if cell else math.nan for cell in cells], np.float64)
    except ValueError:
        found = np.array([figure(cell) for cell in cells], np.float64)
    found[np.isinf(found)] = math.nan
    return found
