"""A range of time in some rows, which may be displayed later than they were recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.query.bounds import all_rows, slices_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from backends.timeline.trace import Trace

    Numbers = NDArray[np.int64]

_SAMPLES = 32  # per window
_FAR = 1 << 62


@dataclass(frozen=True, kw_only=True, eq=False)
class RowSpan:
    """int64 [rows] each: slices low to high - 1 of each row overlap [begin, end), both in the time of the row. `shift`:
    by how much later the row is displayed. `is_all`: all rows, not shifted; `is_whole`: no slice is cut and no row
    shifted."""

    rows: Numbers
    shift: Numbers
    begin: Numbers
    end: Numbers
    low: Numbers
    high: Numbers
    is_all: bool
    is_whole: bool

    @property
    def count(self) -> int:
        return int((self.high - self.low).sum())


def span_of(
    trace: Trace, begin: int, end: int, rows: Sequence[int] | None = None, offsets: Mapping[int, int] | None = None
) -> RowSpan:
    """Return the span of [begin, end) in display time. `offsets`: lane -> ns by which it is displayed later."""
    chosen = all_rows(trace) if rows is None else np.unique(np.array(rows, np.int64))
    of_lane = np.zeros(len(trace.meta.lanes), np.int64)
    for lane, offset in (offsets or {}).items():
        of_lane[lane] = offset
    shift = of_lane[trace.row_lane[chosen]]
    low, high = slices_in(trace, chosen, begin - shift, end - shift)
    begins, ends = begin - shift, end - shift
    is_filled = low < high
    is_cut = (trace.start[low[is_filled]] < begins[is_filled]) | (trace.end[high[is_filled] - 1] > ends[is_filled])
    return RowSpan(
        rows=chosen,
        shift=shift,
        begin=begins,
        end=ends,
        low=low,
        high=high,
        is_all=len(chosen) == len(trace.row_lane) and not shift.any(),
        is_whole=not (shift.any() or is_cut.any()),
    )


def window_edges(start: Numbers, span: RowSpan, size: int) -> Numbers:
    """Return times, in display time, that cut a range into windows in which about `size` slices start each; from the
    first start to 1 ns after the last; int64, ascending, at least two."""
    total = np.cumsum(span.high - span.low)
    places = np.arange(0, int(total[-1]) if len(total) else 0, max(1, size // _SAMPLES))
    row = np.searchsorted(total, places, "right")
    sample = np.sort(_display_times(start, span, row, span.high[row] - (total[row] - places)))
    filled = np.flatnonzero(span.low < span.high)
    first = _display_times(start, span, filled, span.low[filled]).min(initial=_FAR)
    last = _display_times(start, span, filled, span.high[filled] - 1).max(initial=-_FAR)
    if first > last:
        return np.array([0, 1])
    edges: Numbers = np.unique(np.concatenate([[first], sample[_SAMPLES - 1 :: _SAMPLES], [last + 1]]))
    return edges


def _display_times(start: Numbers, span: RowSpan, row: Numbers, index: Numbers) -> Numbers:
    times: Numbers = np.maximum(start[index], span.begin[row]) + span.shift[row]
    return times
