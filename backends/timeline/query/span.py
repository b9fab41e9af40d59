"""A range of time in some rows, which may be shown later than they were."""

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
class Span:
    """int64 [rows] each. Of each row the slices low to high - 1 lie in [begin, end), if only by a part; both as the row
    counts time. `shift`: by how much later it is shown. `is_all`: it is all rows, as they were; `is_whole`: no slice is
    cut and no row is shifted."""

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
) -> Span:
    """[begin, end) in the time shown; `offsets`: lane -> ns by which it is shown later."""
    chosen = all_rows(trace) if rows is None else np.unique(np.array(rows, np.int64))
    of_lane = np.zeros(len(trace.meta.lanes), np.int64)
    for lane, offset in (offsets or {}).items():
        of_lane[lane] = offset
    shift = of_lane[trace.row_lane[chosen]]
    low, high = slices_in(trace, chosen, begin - shift, end - shift)
    begins, ends = begin - shift, end - shift
    there = low < high
    is_cut = (trace.start[low[there]] < begins[there]) | (trace.end[high[there] - 1] > ends[there])
    return Span(
        rows=chosen,
        shift=shift,
        begin=begins,
        end=ends,
        low=low,
        high=high,
        is_all=len(chosen) == len(trace.row_lane) and not shift.any(),
        is_whole=not (shift.any() or is_cut.any()),
    )


def window_edges(start: Numbers, span: Span, size: int) -> Numbers:
    """Times, in the time shown, that cut a range into windows in each of which about `size` slices start; from the
    first start to 1 ns behind the last; int64, ascending, at least two."""
    total = np.cumsum(span.high - span.low)
    places = np.arange(0, int(total[-1]) if len(total) else 0, max(1, size // _SAMPLES))
    row = np.searchsorted(total, places, "right")
    sample = np.sort(_shown(start, span, row, span.high[row] - (total[row] - places)))
    there = np.flatnonzero(span.low < span.high)
    first = _shown(start, span, there, span.low[there]).min(initial=_FAR)
    last = _shown(start, span, there, span.high[there] - 1).max(initial=-_FAR)
    if first > last:
        return np.array([0, 1])
    edges: Numbers = np.unique(np.concatenate([[first], sample[_SAMPLES - 1 :: _SAMPLES], [last + 1]]))
    return edges


def _shown(start: Numbers, span: Span, row: Numbers, index: Numbers) -> Numbers:
    found: Numbers = np.maximum(start[index], span.begin[row]) + span.shift[row]
    return found
