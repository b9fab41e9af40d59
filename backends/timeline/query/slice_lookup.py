"""Lookup of slices by position and time, and their neighbours in the same lane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.query.bounds import all_rows, next_in_time, previous_in_time, rows_of_lane, slices_in
from backends.timeline.query.coverage_numpy import pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from backends.timeline.trace import Trace

_CHUNK = 1 << 18


def slice_at(trace: Trace, row: int, time: int, reach: int = 0) -> int:
    """Return the slice of a row that contains `time`, one without length at `time`, or else the nearest within `reach`
    ns (so that a slice one pixel wide can be hit); -1 for none. All times are ns since the origin."""
    first, behind = int(trace.row_begin[row]), int(trace.row_begin[row + 1])
    following = first + int(np.searchsorted(trace.start[first:behind], time, "right"))
    if following > first:
        start, end = int(trace.start[following - 1]), int(trace.end[following - 1])
        if time < end or time == start:
            return following - 1
    around = [i for i in (following - 1, following) if first <= i < behind]
    nearest = min(around, key=lambda i: _distance(trace, i, time), default=-1)
    return nearest if nearest >= 0 and _distance(trace, nearest, time) <= reach else -1


def _distance(trace: Trace, index: int, time: int) -> int:
    """Return how far `time` is from the first or last ns of a slice: its end is 1 ns outside of it."""
    start, end = int(trace.start[index]), int(trace.end[index])
    return max(0, start - time, time - max(start, end - 1))


def next_slice(trace: Trace, index: int) -> int:
    """Return the slice of the same lane that starts next; of those that start together the upper row comes first. -1 at
    the end. Moving forth and back returns to the same slice."""
    rows, own = _rows_around(trace, index)
    low, high = trace.row_begin[rows], trace.row_begin[rows + 1]
    return next_in_time(trace.start, low, high, int(trace.start[index]), own - int(rows[0]), index + 1)


def previous_slice(trace: Trace, index: int) -> int:
    """Return the slice of the same lane that starts before: see `next_slice`. -1 at the beginning."""
    rows, own = _rows_around(trace, index)
    low, high = trace.row_begin[rows], trace.row_begin[rows + 1]
    return previous_in_time(trace.start, low, high, int(trace.start[index]), own - int(rows[0]), index - 1)


def _rows_around(trace: Trace, index: int) -> tuple[NDArray[np.int64], int]:
    own = trace.row_of(index)
    return rows_of_lane(trace, int(trace.row_lane[own])), own


def parents_of(trace: Trace, index: int) -> tuple[int, ...]:
    """Return the slices of the same lane that contain this one, in rows above it; the outermost first."""
    rows, own = _rows_around(trace, index)
    start, end = int(trace.start[index]), int(trace.end[index])
    above = [slice_at(trace, row, start) for row in rows[rows < own].tolist()]
    return tuple(i for i in above if i >= 0 and int(trace.end[i]) >= end)


def around(trace: Trace, lane: int, start: int, end: int) -> tuple[int, ...]:
    """Return the slices of a lane that contain all of [start, end], the outermost first: the Python functions of an
    operator are in a lane of their own."""
    slices = [slice_at(trace, row, start) for row in rows_of_lane(trace, lane).tolist()]
    return tuple(i for i in slices if i >= 0 and int(trace.end[i]) >= end)


def slices_named(trace: Trace, name: int, begin: int, end: int, rows: Sequence[int] | None = None) -> NDArray[np.int64]:
    """Return the slices of a name that overlap [begin, end), in order of start."""
    chosen = all_rows(trace) if rows is None else np.array(rows, np.int64)
    low, high = slices_in(trace, chosen, begin, end)
    slices = np.sort(
        np.concatenate([np.empty(0, np.int64), *(_named(trace, name, at) for at in pieces(low, high, _CHUNK))])
    )
    in_time: NDArray[np.int64] = slices[np.argsort(trace.start[slices], kind="stable")]
    return in_time


def _named(trace: Trace, name: int, at: slice | NDArray[np.int64]) -> NDArray[np.int64]:
    matching = np.flatnonzero(trace.name[at] == name)
    return matching + at.start if isinstance(at, slice) else at[matching]
