"""The way by which a difference goes on: which later calls take what a call gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.comparison import MISSING
from backends.precision.dump.dump import INPUT, KWARG, OUTPUT

if TYPE_CHECKING:
    from backends.precision.compare.comparison import Comparison

MOST = 8
DEEPEST = 5


@dataclass(frozen=True, kw_only=True)
class Reached:
    """A call, and by how many calls the difference came to it."""

    call: int
    depth: int


def spread(comparison: Comparison, call: int) -> tuple[Reached, ...]:
    """The next calls that the outputs of a call reach in the target's pass, in the order in which they were executed.
    Values are known again by their figures or digests, so two that are equal are taken for one."""
    found: dict[int, int] = {}
    front = [call]
    for depth in range(1, DEEPEST + 1):
        reached = [after for one in front for after in consumers(comparison, one)]
        front = sorted({after for after in reached if after not in found})[: MOST - len(found)]
        found |= dict.fromkeys(front, depth)
        if not front or len(found) >= MOST:
            break
    return tuple(Reached(call=one, depth=found[one]) for one in sorted(found))


def consumers(comparison: Comparison, call: int) -> tuple[int, ...]:
    """Calls after it that have one of its outputs as an input; modules only where nothing in them has."""
    if comparison.call_verdict[call] == MISSING:
        return ()
    begin, after = (int(place) for place in comparison.call.searchsorted((call, call + 1)))
    end = _end_of_pass(comparison, call)
    hits = [_rows_like(comparison, row, after, end) for row in range(begin, after) if comparison.role[row] == OUTPUT]
    calls = np.unique(comparison.call[np.concatenate(hits)]) if hits else np.empty(0, np.int64)
    own = calls[~comparison.is_module[calls]]
    return tuple((own if len(own) else calls).tolist())


def _end_of_pass(comparison: Comparison, call: int) -> int:
    later = [one.first_row for one in comparison.passes if one.first_call > call]
    return min(later, default=len(comparison.call))


def _rows_like(comparison: Comparison, row: int, begin: int, end: int) -> np.ndarray:
    """Input rows from `begin` to before `end` with the same value."""
    found = comparison
    stats = found.target_stats[row]
    if not np.isnan(stats).all():
        rows = begin + np.flatnonzero(found.target_stats[begin:end, 0] == stats[0])
        same = np.isclose(found.target_stats[rows], stats, rtol=0, atol=0, equal_nan=True).all(axis=1)
        rows = rows[same & bool(np.any(stats[~np.isnan(stats)] != 0))]
    elif found.target_text[row] >= 0 and not found.is_scalar[row]:
        rows = begin + np.flatnonzero(found.target_text[begin:end] == found.target_text[row])
    else:
        return np.empty(0, np.int64)
    is_input = (found.role[rows] == INPUT) | (found.role[rows] == KWARG)
    is_alike = found.target_shape[rows] == found.target_shape[row]
    return rows[is_input & is_alike]
