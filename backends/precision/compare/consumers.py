"""The path along which a difference spreads: the later calls that take the outputs of a call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.comparison import MISSING
from backends.precision.dump.dump import INPUT, KWARG, OUTPUT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.precision.compare.comparison import Comparison

MAX_CALLS = 8
MAX_DEPTH = 5


@dataclass(frozen=True, kw_only=True)
class Consumer:
    """A call, and over how many calls the difference reached it."""

    call: int
    depth: int


def downstream_calls(comparison: Comparison, call: int) -> tuple[Consumer, ...]:
    """Return the next calls that the outputs of a call reach in the target's pass, in execution order.

    Values are recognised by their statistics or digests, so two equal tensors are taken for one."""
    depths: dict[int, int] = {}
    front = [call]
    for depth in range(1, MAX_DEPTH + 1):
        reached = [after for producer in front for after in direct_consumers(comparison, producer)]
        front = sorted({after for after in reached if after not in depths})[: MAX_CALLS - len(depths)]
        depths |= dict.fromkeys(front, depth)
        if not front or len(depths) >= MAX_CALLS:
            break
    return tuple(Consumer(call=consumer, depth=depths[consumer]) for consumer in sorted(depths))


def direct_consumers(comparison: Comparison, call: int) -> tuple[int, ...]:
    """Return the later calls that have one of its outputs as an input; modules only if no call inside them has."""
    if comparison.call_verdict[call] == MISSING:
        return ()
    begin, after = (int(bound) for bound in comparison.call.searchsorted((call, call + 1)))
    end = _end_of_pass(comparison, call)
    hits = [_rows_like(comparison, row, after, end) for row in range(begin, after) if comparison.role[row] == OUTPUT]
    calls = np.unique(comparison.call[np.concatenate(hits)]) if hits else np.empty(0, np.int64)
    own = calls[~comparison.is_module[calls]]
    return tuple((own if len(own) else calls).tolist())


def _end_of_pass(comparison: Comparison, call: int) -> int:
    next_rows = [dump_pass.first_row for dump_pass in comparison.passes if dump_pass.first_call > call]
    return min(next_rows, default=len(comparison.call))


def _rows_like(comparison: Comparison, row: int, begin: int, end: int) -> NDArray[np.int64]:
    """Return the input rows from `begin` to before `end` with the same value."""
    stats = comparison.target_stats[row]
    if not np.isnan(stats).all():
        rows = begin + np.flatnonzero(comparison.target_stats[begin:end, 0] == stats[0])
        same = np.isclose(comparison.target_stats[rows], stats, rtol=0, atol=0, equal_nan=True).all(axis=1)
        rows = rows[same & bool(np.any(stats[~np.isnan(stats)] != 0))]
    elif comparison.target_text[row] >= 0 and not comparison.is_scalar[row]:
        rows = begin + np.flatnonzero(comparison.target_text[begin:end] == comparison.target_text[row])
    else:
        return np.empty(0, np.int64)
    is_input = (comparison.role[rows] == INPUT) | (comparison.role[rows] == KWARG)
    is_alike = comparison.target_shape[rows] == comparison.target_shape[row]
    consumers: NDArray[np.int64] = rows[is_input & is_alike]
    return consumers
