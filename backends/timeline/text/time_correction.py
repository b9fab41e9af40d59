"""Corrections to the times of one source that can only be made at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from backends.timeline.gathering import Gathering

    Columns = list[tuple[NDArray[np.int64], ...]]

ZERO_TIME = "timeline.aside.zero_time"


class Added:
    """What one source added to a gathering. `zero_counters`: counter events at time 0 among that."""

    def __init__(self, gather: Gathering, source: int) -> None:
        self._gather = gather
        self._source = source
        self._events = [(columns, len(columns)) for columns in (gather.slices, gather.instants, gather.ends)]
        self._samples = (gather.samples, len(gather.samples))
        self.zero_counters = 0
        self.any_zero = False

    def set_zeros_aside(self, base_ns: int) -> int:
        """Set aside events at time 0 where one of them would stretch the axis over weeks or half a century; return how
        many slices these are. `base_ns`: what was added to all times, so that they are there now."""
        if not self.any_zero:
            return 0
        swept = [_sweep(columns, begin, base_ns) for columns, begin in self._events]
        _sweep(*self._samples, base_ns)
        steps = [step for step in self._gather.steps if (step[1], step[3]) != (base_ns, self._source)]
        self._gather.steps[:] = steps
        self._gather.counter_events -= self.zero_counters
        self._gather.set_aside[ZERO_TIME] += sum(swept) + self.zero_counters
        return swept[0]

    def shift(self, by_ns: int) -> None:
        """Shift the times of a trace that names its time base only at the end."""
        for columns, begin in [*self._events[1:], self._samples]:
            _shift(columns, begin, (1,), by_ns)
        _shift(*self._events[0], (1, 2), by_ns)
        for index, (number, start, end, source) in enumerate(self._gather.steps):
            if source == self._source:
                self._gather.steps[index] = (number, start + by_ns, end + by_ns, source)


def _sweep(columns: Columns, begin: int, zero: int) -> int:
    """Remove rows at the time `zero`; the time is the second of all columns."""
    removed = 0
    for index in range(begin, len(columns)):
        is_timed = columns[index][1] != zero
        removed += int((~is_timed).sum())
        columns[index] = tuple(column[is_timed] for column in columns[index])
    return removed


def _shift(columns: Columns, begin: int, which: tuple[int, ...], by_ns: int) -> None:
    for index in range(begin, len(columns)):
        columns[index] = tuple(c + by_ns if number in which else c for number, c in enumerate(columns[index]))
