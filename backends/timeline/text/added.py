"""What one source has added to a gathering, for what is known of all its times only at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from backends.timeline.gather import Gather

    Columns = list[tuple[NDArray[np.int64], ...]]

ZERO_TIME = "timeline.aside.zero_time"


class Added:
    """`zero_counters`: events of counters at time 0 that came before it was known from what the trace counts."""

    def __init__(self, gather: Gather, source: int) -> None:
        self._gather = gather
        self._source = source
        self._events = [(columns, len(columns)) for columns in (gather.slices, gather.instants, gather.ends)]
        self._samples = (gather.samples, len(gather.samples))
        self.zero_counters = 0
        self.any_zero = False

    def set_zeros_aside(self) -> None:
        """In a trace that counts from 1970, where one of them would stretch the axis over half a century."""
        if not self.any_zero:
            return
        swept = sum(_sweep(columns, begin) for columns, begin in self._events)
        _sweep(*self._samples)
        self._gather.counter_events -= self.zero_counters
        self._gather.set_aside[ZERO_TIME] += swept + self.zero_counters

    def shift(self, by_ns: int) -> None:
        """Of a trace that says only at its end what its times are to be added to."""
        for columns, begin in [*self._events[1:], self._samples]:
            _shift(columns, begin, (1,), by_ns)
        _shift(*self._events[0], (1, 2), by_ns)
        for index, (number, start, end, source) in enumerate(self._gather.steps):
            if source == self._source:
                self._gather.steps[index] = (number, start + by_ns, end + by_ns, source)


def _sweep(columns: Columns, begin: int) -> int:
    """The time is the second of all columns."""
    removed = 0
    for index in range(begin, len(columns)):
        kept = columns[index][1] != 0
        removed += int((~kept).sum())
        columns[index] = tuple(column[kept] for column in columns[index])
    return removed


def _shift(columns: Columns, begin: int, which: tuple[int, ...], by_ns: int) -> None:
    for index in range(begin, len(columns)):
        columns[index] = tuple(c + by_ns if place in which else c for place, c in enumerate(columns[index]))
