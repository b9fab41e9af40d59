"""Values of cells: exact nanoseconds and finite figures, of one cell or a column of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.text.timestamps import nanoseconds as exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

US, NS = 3, 0
"""Units of a time, as digits behind the point that are nanoseconds."""

_POINT, _ZERO, _COMMA = b".0,"
_LAST = 2**62


def cell_nanoseconds(text: str, digits: int = US) -> int | None:
    """Return whole ns, or None for text that is not a decimal, negative, not finite or out of range. Never by way of a
    float, which would lose the last hundreds of ns of a time since the epoch."""
    text = text.strip()
    plain = text[:-4] + text[-3:] if digits == US and text[-4:-3] == "." else "" if digits == US else text
    if len(plain) < 20 and plain.isascii() and plain.isdigit():
        time: int | None = int(plain)  # the usual one, three times as fast
    else:
        time = exact(text) if digits == US else None
    return time if time is not None and 0 <= time < _LAST else None


def cell_times(cells: Sequence[str], digits: int = US) -> NDArray[np.int64]:
    """int64 [n]; 0 where there is no time."""
    times = _alike(cells) if digits == US and len(cells) else None
    if times is None:
        times = np.fromiter((cell_nanoseconds(cell, digits) or 0 for cell in cells), np.int64)
    return times


def _alike(cells: Sequence[str]) -> NDArray[np.int64] | None:
    """Parse cells that are all decimals of one length, with a point before the last three digits; else return None."""
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


def cell_figure(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def cell_figures(cells: Sequence[str]) -> NDArray[np.float64]:
    """float64 [n]; NaN where there is no finite figure."""
    try:
        figures = np.array([float(cell) if cell else math.nan for cell in cells], np.float64)
    except ValueError:
        figures = np.array([cell_figure(cell) for cell in cells], np.float64)
    figures[np.isinf(figures)] = math.nan
    return figures
