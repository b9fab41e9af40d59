"""Mapping between two traces of the same profile: from the first part to the whole, or to the profile read again.

Slices, lanes and kinds are numbered differently in each; names and times are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.timeline.trace import Trace


def same_slice(before: Trace, index: int, after: Trace, lane: int) -> int:
    """Return the slice of `lane` in `after` with the name and times of a slice of `before`; -1: none."""
    name = before.name_text(int(before.name[index]))
    shift = before.meta.origin_ns - after.meta.origin_ns
    start, end = int(before.start[index]) + shift, int(before.end[index]) + shift
    first = after.meta.lanes[lane].first_row
    for row in range(first, first + after.meta.lanes[lane].rows):
        begin, behind = int(after.row_begin[row]), int(after.row_begin[row + 1])
        low, high = begin + np.searchsorted(after.start[begin:behind], [start, start + 1])
        for same in (low + np.flatnonzero(after.end[low:high] == end)).tolist():
            if after.name_text(int(after.name[same])) == name:
                return int(same)
    return -1


def same_kinds(before: Trace, kinds: Iterable[int], after: Trace) -> frozenset[int]:
    """Return the kinds of flows with the same names."""
    names = {before.meta.flow_kinds[kind] for kind in kinds}
    return frozenset(number for number, name in enumerate(after.meta.flow_kinds) if name in names)
