"""The order in which slices are written: by lane, by row within the lane, by start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from backends.timeline.build.columns import sort_keys
from backends.timeline.build.row_layout import by_row, depths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]


def in_rows(
    lane: NDArray[Any], start: Numbers, end: Numbers, lanes: int
) -> tuple[Numbers, Numbers, Numbers, NDArray[Any]]:
    """Return the order of the slices by row and start, the number of rows of each lane, its first row, and the rows in
    that order."""
    begin_key, end_key = sort_keys(lane, start, end)
    order = _by_key(begin_key, end_key)
    depth = depths(begin_key[order], end_key[order])
    del begin_key, end_key
    sorted_lane = lane[order]
    rows = _deepest(sorted_lane, depth, lanes) + 1
    first_row = np.cumsum(rows) - rows
    row = first_row[sorted_lane] + depth
    into_rows = by_row(row)
    return order[into_rows], rows, first_row, row[into_rows]


def _deepest(lane: NDArray[Any], depth: NDArray[np.int32], lanes: int) -> Numbers:
    """Return the deepest depth of each lane, 0 for a lane without slices."""
    deepest = np.zeros(lanes, np.int64)
    if len(lane):
        first = np.flatnonzero(np.concatenate([[True], lane[1:] != lane[:-1]]))
        deepest[lane[first]] = np.maximum.reduceat(depth, first)
    return deepest


def _by_key(begin: Numbers, end: Numbers) -> Numbers:
    """Sort by start; slices that begin together sort by length, longest first, then by their order in the file."""
    order = np.argsort(begin, kind="stable")
    sorted_begin = begin[order]
    same = np.flatnonzero(sorted_begin[1:] == sorted_begin[:-1])
    if len(same):
        ties = np.union1d(same, same + 1)
        order[ties] = order[ties][np.lexsort((-end[order[ties]], sorted_begin[ties]))]
    return order
