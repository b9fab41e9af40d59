"""What numba compiles. Imported by `fast.py` only, in a thread: importing numba alone takes most of a second."""

from __future__ import annotations

import numba
import numpy as np

# Places are unsigned: numba asks of a signed one each time whether it counts from the end.
PLACE, ONE, TWO = np.uint64, np.uint64(1), np.uint64(2)
BLOCK = np.uint64(16)
DENSE = 2  # slices to a column


@numba.njit(cache=True, nogil=True, inline="always")
def _first_from(start, i, end, cut, is_dense):
    """The first place from `i` on whose start is not before `cut`, else `end`. Where many slices begin in each column,
    counting a block of them, all at once, takes less than a processor's wrong guesses at where a search turns."""
    if i == end or start[i] >= cut:
        return i
    low, begun = i, BLOCK
    while is_dense and begun == BLOCK and low + BLOCK <= end:
        begun = PLACE(0)
        for j in range(BLOCK):
            begun += PLACE(start[low + PLACE(j)] < cut)
        low += begun
    if begun < BLOCK:
        return low
    high, step = low, ONE
    while high < end and start[high] < cut:
        low, step = high + ONE, step * TWO
        high += step
    high = min(high, end)
    while low < high:
        middle = (low + high) >> ONE
        if start[middle] < cut:
            low = middle + ONE
        else:
            high = middle
    return low


@numba.njit(cache=True, nogil=True)
def lines(
    start, name, cover, row_begin, rows, offsets, base, rel, cuts, per_column, shades, colors, made,
    levels, faintest, seam,
):  # fmt: skip
    """As `frame.lines`, in one pass over each row: what is far apart in memory is then waited for at the same time."""
    width = made.shape[1]
    scale = levels / per_column
    begun_before, picked = np.empty(width + 1, np.uint64), np.empty(width, np.uint64)
    level_of = np.empty(width, np.int64)
    for k in range(len(rows)):
        first, end = PLACE(row_begin[rows[k]]), PLACE(row_begin[rows[k] + 1])
        if first == end:
            continue
        offset = offsets[k]
        shift = base - offset
        own = start[row_begin[rows[k]] : row_begin[rows[k] + 1]]
        i = first + PLACE(np.searchsorted(own, cuts[0] - offset))
        begun = first + PLACE(np.searchsorted(own, cuts[width] - offset)) - i
        has_seams, is_dense = begun < PLACE(width), begun > PLACE(DENSE * width)
        begun_before[0] = i
        at = i - ONE if i > first else first
        before = cover[at]
        length = cover[at + ONE] - before if i > first else 0
        inside = min(max(rel[0] - (start[at] - shift), 0.0), float(length))
        for x in range(width):
            cut = cuts[x + 1] - offset
            behind = _first_from(start, i, end, cut, is_dense)
            begun = behind - i
            left = min(length - inside, per_column)
            next_at, next_before, next_length = at, before, length
            if begun > 0:
                next_at = behind - ONE
                next_before = cover[next_at]
                next_length = cover[behind] - next_before
            next_inside = min(max(rel[x + 1] - (start[next_at] - shift), 0.0), float(next_length))
            busy = (next_before - before) + (next_inside - inside)
            level, pick = 0, at
            if busy > 0 or begun > 0:
                rest = busy - left - next_inside
                if begun > TWO and rest > left and rest > next_inside:
                    pick = next_at - (begun >> ONE)
                elif begun > 0 and next_inside >= left:
                    pick = next_at
                level = levels
                if busy > 0:
                    level = min(max(int(busy * scale + 0.5), faintest), levels)
                made[k, x] = colors[shades[name[pick]] + level]
            if has_seams:
                begun_before[x + 1], level_of[x], picked[x] = behind, level, pick
            i, at, before, length, inside = behind, next_at, next_before, next_length, next_inside
        if has_seams:
            for x in range(1, width - 3):
                is_new = begun_before[x + 1] - begun_before[x] == ONE and begun_before[x + 4] == begun_before[x + 1]
                if is_new and level_of[x - 1] > 0 and level_of[x] > seam:
                    made[k, x] = colors[shades[name[picked[x]]] + seam]
