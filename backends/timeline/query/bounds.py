"""Binary searches in many rows at once: slices in a range are found without touching those outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Protocol

    from numpy.typing import ArrayLike, NDArray

    from backends.timeline.trace import Trace

    Numbers = NDArray[np.int64]

    class Values(Protocol):
        """An int64 array, or an object that looks values up without building such an array."""

        def __getitem__(self, places: Numbers, /) -> Numbers: ...


def first_from(values: Values, low: Numbers, high: Numbers, target: ArrayLike, *, above: bool = False) -> Numbers:
    """For each segment `low` to `high` - 1 of `values`, ascending within it, return the first index whose value is at
    least `target` (`above`: greater than it), else `high`."""
    low, high, aim = np.broadcast_arrays(low, high, np.asarray(target, np.int64))
    low, high = low.astype(np.int64), high.astype(np.int64)
    last = int(high.max(initial=0)) - 1
    for _ in range(int((high - low).max(initial=0)).bit_length()):  # pieces that are done stay as they are
        middle = (low + high) >> 1
        value = values[np.minimum(middle, last)]
        goes_up = (value <= aim if above else value < aim) & (low < high)
        low, high = np.where(goes_up, middle + 1, low), np.where(goes_up, high, middle)
    return low


def slices_in(trace: Trace, rows: Numbers, begin: ArrayLike, end: ArrayLike) -> tuple[Numbers, Numbers]:
    """Return for each row the slices low to high - 1 that overlap [begin, end). A slice without length counts where it
    starts in the range; an empty range contains nothing. `begin`, `end`: for all rows, or one per row."""
    first, behind = trace.row_begin[rows], trace.row_begin[rows + 1]
    begin, end = np.asarray(begin, np.int64), np.asarray(end, np.int64)
    low = first_from(trace.end, first, behind, begin)
    at = np.minimum(low, max(0, len(trace.start) - 1))
    if len(trace.start):
        low = low + ((low < behind) & (trace.end[at] == begin) & (trace.start[at] < begin))
    high = first_from(trace.start, low, behind, np.broadcast_to(end, rows.shape))
    return low, np.where(begin < end, np.maximum(low, high), low)


def next_in_time(starts: Values, low: Numbers, high: Numbers, start: int, own: int, position: int) -> int:
    """Return the first position after (start, own, position) where all segments are merged in order of start, segment
    number and position; within segment `own` that is `position` itself. -1 at the end."""
    candidates = first_from(starts, low, high, start + (np.arange(len(low)) < own))
    candidates[own] = position
    candidates = candidates[candidates < high]
    return int(candidates[np.argmin(starts[candidates])]) if len(candidates) else -1


def previous_in_time(starts: Values, low: Numbers, high: Numbers, start: int, own: int, position: int) -> int:
    """Return the last position before, in the order of `next_in_time`; -1 at the beginning."""
    candidates = first_from(starts, low, high, start + (np.arange(len(low)) < own)) - 1
    candidates[own] = position
    candidates = candidates[candidates >= low][::-1]  # of equal starts the last piece is the nearest
    return int(candidates[np.argmax(starts[candidates])]) if len(candidates) else -1


def rows_of_lane(trace: Trace, lane: int) -> Numbers:
    described = trace.meta.lanes[lane]
    return np.arange(described.first_row, described.first_row + described.rows, dtype=np.int64)


def all_rows(trace: Trace) -> Numbers:
    return np.arange(len(trace.row_lane), dtype=np.int64)
