"""One function for numba. Imported by `fast.py` only, in a thread: importing numba alone takes most of a second."""

from __future__ import annotations

import numba
import numpy as np

NEAR = 24  # so many slices are walked over one by one: cheaper than searching, where the processor must guess


@numba.njit(cache=True, nogil=True)
def _far(start, low, end, cut):
    """The first behind `low` that does not begin before `cut`: in steps that double, then by halves."""
    step = NEAR
    high = low + step
    while high < end and start[high] < cut:
        low, step = high, step * 2
        high = low + step
    high, low = min(high, end), low + 1
    while low < high:
        middle = (low + high) >> 1
        if start[middle] < cut:
            low = middle + 1
        else:
            high = middle
    return low


@numba.njit(cache=True, nogil=True)
def lines(
    start, name, cover, row_begin, rows, offsets, base, rel, cuts, per_column, shades, colors, made,
    levels, faintest, seam,
):  # fmt: skip
    """As `frame.lines`, step by step."""
    width = made.shape[1]
    scale = levels / per_column
    last_begun = np.empty(width + 1, np.int64)
    for k in range(len(rows)):
        first, end = row_begin[rows[k]], row_begin[rows[k] + 1]
        if first == end:
            continue
        offset = offsets[k]
        shift = base - offset
        i = first + np.searchsorted(start[first:end], cuts[0] - offset)
        last_begun[0] = i - 1
        for x in range(1, width + 1):
            cut = cuts[x] - offset
            near = min(end, i + NEAR)
            while i < near and start[i] < cut:
                i += 1
            if i == near and i < end and start[i] < cut:
                i = _far(start, i, end, cut)
            last_begun[x] = i - 1
        has_seams = last_begun[width] - last_begun[0] < width
        at = max(last_begun[0], first)
        before = cover[at]
        length = cover[at + 1] - before
        inside = min(max(rel[0] - (start[at] - shift), 0.0), float(length))
        was_filled = False
        for x in range(width):
            begun = last_begun[x + 1] - last_begun[x]
            left = 0.0
            if last_begun[x] >= first:
                left = min(length - inside, per_column)
            next_at, next_before, next_length = at, before, length
            if begun > 0:
                next_at = last_begun[x + 1]
                next_before = cover[next_at]
                next_length = cover[next_at + 1] - next_before
            next_inside = min(max(rel[x + 1] - (start[next_at] - shift), 0.0), float(next_length))
            busy = (next_before - before) + (next_inside - inside)
            if busy > 0 or begun > 0:
                rest = busy - left - next_inside
                if begun > 2 and rest > left and rest > next_inside:
                    pick = next_at - (begun >> 1)
                elif begun > 0 and next_inside >= left:
                    pick = next_at
                else:
                    pick = at
                level = levels
                if busy > 0:
                    level = min(max(int(busy * scale + 0.5), faintest), levels)
                if has_seams and was_filled and begun == 1 and x < width - 3 and last_begun[x + 4] == last_begun[x + 1]:
                    level = min(level, seam)
                made[k, x] = colors[shades[name[pick]] + level]
                was_filled = True
            else:
                was_filled = False
            at, before, length, inside = next_at, next_before, next_length, next_inside
