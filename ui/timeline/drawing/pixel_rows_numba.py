"""`draw_pixel_rows` compiled by numba: the same pixels as `frame.draw_pixel_rows`.

Only `pixel_rows` imports this, in a thread: importing numba alone takes most of a second. The types stand in the
signature of the numpy version; numba infers its own.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

# Places are unsigned: numba asks of a signed one each time whether it counts from the end.
INDEX, U1, U2 = np.uint64, np.uint64(1), np.uint64(2)
BLOCK = np.uint64(16)
DENSE = 2  # slices to a column


@numba.njit(cache=True, nogil=True, inline="always")
def _first_from(start: Any, i: Any, end: Any, cut: Any, is_dense: Any) -> Any:
    """Return the first index from `i` on whose start is not before `cut`, else `end`. Where many slices begin in each
    column, comparing a block of them at once is quicker than a search, whose branches a processor mispredicts."""
    if i == end or start[i] >= cut:
        return i
    low, begun = i, BLOCK
    while is_dense and begun == BLOCK and low + BLOCK <= end:
        begun = INDEX(0)
        for j in range(BLOCK):
            begun += INDEX(start[low + INDEX(j)] < cut)
        low += begun
    if begun < BLOCK:
        return low
    high, step = low, U1
    while high < end and start[high] < cut:
        low, step = high + U1, step * U2
        high += step
    high = min(high, end)
    while low < high:
        middle = (low + high) >> U1
        if start[middle] < cut:
            low = middle + U1
        else:
            high = middle
    return low


@numba.njit(cache=True, nogil=True)
def draw_pixel_rows(
    start: Any, name: Any, cover: Any, row_begin: Any, rows: Any, offsets: Any, base: Any, rel: Any, cuts: Any,
    per_column: Any, shades: Any, colors: Any, pixels: Any, levels: Any, faintest: Any, seam: Any,
) -> None:  # fmt: skip
    """Draw the rows in one pass over each: loads that are far apart in memory then overlap."""
    width = pixels.shape[1]
    scale = levels / per_column
    begun_before, picked = np.empty(width + 1, np.uint64), np.empty(width, np.uint64)
    level_of = np.empty(width, np.int64)
    for k in range(len(rows)):
        first, end = INDEX(row_begin[rows[k]]), INDEX(row_begin[rows[k] + 1])
        if first == end:
            continue
        offset = offsets[k]
        shift = base - offset
        own = start[row_begin[rows[k]] : row_begin[rows[k] + 1]]
        i = first + INDEX(np.searchsorted(own, cuts[0] - offset))
        begun = first + INDEX(np.searchsorted(own, cuts[width] - offset)) - i
        has_seams, is_dense = begun < INDEX(width), begun > INDEX(DENSE * width)
        begun_before[0] = i
        at = i - U1 if i > first else first
        before = cover[at]
        length = cover[at + U1] - before if i > first else 0
        inside = min(max(rel[0] - (start[at] - shift), 0.0), float(length))
        for x in range(width):
            cut = cuts[x + 1] - offset
            behind = _first_from(start, i, end, cut, is_dense)
            begun = behind - i
            left = min(length - inside, per_column)
            next_at, next_before, next_length = at, before, length
            if begun > 0:
                next_at = behind - U1
                next_before = cover[next_at]
                next_length = cover[behind] - next_before
            next_inside = min(max(rel[x + 1] - (start[next_at] - shift), 0.0), float(next_length))
            busy = (next_before - before) + (next_inside - inside)
            level, pick = 0, at
            if busy > 0 or begun > 0:
                rest = busy - left - next_inside
                if begun > U2 and rest > left and rest > next_inside:
                    pick = next_at - (begun >> U1)
                elif begun > 0 and next_inside >= left:
                    pick = next_at
                level = levels
                if busy > 0:
                    level = min(max(int(busy * scale + 0.5), faintest), levels)
                pixels[k, x] = colors[shades[name[pick]] + level]
            if has_seams:
                begun_before[x + 1], level_of[x], picked[x] = behind, level, pick
            i, at, before, length, inside = behind, next_at, next_before, next_length, next_inside
        if has_seams:
            for x in range(1, width - 3):
                is_new = begun_before[x + 1] - begun_before[x] == U1 and begun_before[x + 4] == begun_before[x + 1]
                if is_new and level_of[x - 1] > 0 and level_of[x] > seam:
                    pixels[k, x] = colors[shades[name[picked[x]]] + seam]
