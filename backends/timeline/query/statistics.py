"""What happens in a range of time, by name: how often, how long, how long alone.

A slice counts with its part inside the range. Of a name, over the chosen rows:
count   how many slices lie in the range, if only by a part
total   sum of the parts
wall    time in which at least one of them runs: the length of their union, so that overlaps count once
own     sum of the parts without what the row below covers, in lanes of calls (host, api, and what no table knows
        where its slices nest); elsewhere as total
least, most, mean   of the parts; mean = total / count
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.query import numba_kernels
from backends.timeline.query.coverage_cache import (
    covered_until_in,
    is_prepared,
    stored_covered_below,
    stored_covered_until,
)
from backends.timeline.query.coverage_numpy import covered_below, indexes, pieces
from backends.timeline.query.row_span import RowSpan, span_of
from backends.timeline.query.tally import COUNT, TOTAL, Tally

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from backends.timeline.trace import Trace

    Numbers = NDArray[np.int64]

_CHUNK = 1 << 18
_FEW = 1 << 20  # fewer slices than that are sorted for this one question


@dataclass(frozen=True, kw_only=True, eq=False)
class Statistics:
    """Statistics of [begin, end): arrays int64 [names in the range], largest total first; times in ns. `name`: its
    number."""

    begin: int
    end: int
    name: Numbers
    count: Numbers
    total: Numbers
    wall: Numbers
    own: Numbers
    shortest: Numbers
    longest: Numbers

    @property
    def mean(self) -> NDArray[np.float64]:
        return np.asarray(self.total / self.count)


def range_statistics(
    trace: Trace, begin: int, end: int, rows: Sequence[int] | None = None, offsets: Mapping[int, int] | None = None
) -> Statistics:
    """Return statistics of [begin, end), ns since the origin. `rows`: of those only. `offsets`: lane -> ns by which it
    is displayed later than recorded. Not for the UI thread: ten million slices take tenths of a second."""
    span = span_of(trace, begin, end, rows, offsets)
    tally = Tally(len(trace.name_family))
    kernels = numba_kernels.loaded()
    by_prepared = span.is_all and (is_prepared(trace) or span.count >= _FEW)
    until = stored_covered_until(trace) if by_prepared else covered_until_in(trace, span)
    if kernels:
        kernels.tally(trace, span, until, tally)
    else:
        _add(trace, _parts(trace, span), until, tally)
    return _statistics(begin, end, tally)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Parts:
    """Slices that lie completely in a range are low to high - 1 of each row; `cut` are the others, at most two per row,
    `cut_row` their positions among the rows."""

    span: RowSpan
    low: Numbers
    high: Numbers
    cut: Numbers
    cut_row: Numbers


def _parts(trace: Trace, span: RowSpan) -> _Parts:
    some = np.flatnonzero(span.low < span.high)
    first, last = span.low[some], span.high[some] - 1
    before = trace.start[first] < span.begin[some]
    behind = (trace.end[last] > span.end[some]) & ~(before & (first == last))
    low, high = span.low.copy(), span.high.copy()
    low[some] += before
    high[some] -= behind
    cut, cut_row = np.concatenate([first[before], last[behind]]), np.concatenate([some[before], some[behind]])
    return _Parts(span=span, low=low, high=high, cut=cut, cut_row=cut_row)


def _add(trace: Trace, parts: _Parts, until: Numbers, tally: Tally) -> None:
    inner = _inner(trace, parts)
    for at in pieces(parts.low, parts.high, _CHUNK):
        end = trace.end[at]
        length = end - trace.start[at]
        tally.add(trace.name[at], length, end - until[at], length - inner[at])
    start, end = _cut(trace, parts)
    covered = covered_below(trace, parts.span.rows[parts.cut_row], start, end)
    wall = end - np.clip(until[parts.cut], start, end)
    tally.add(trace.name[parts.cut], end - start, wall, end - start - covered)


def _cut(trace: Trace, parts: _Parts) -> tuple[Numbers, Numbers]:
    """Return start and end of the parts of the slices that are cut."""
    begin, end = parts.span.begin[parts.cut_row], parts.span.end[parts.cut_row]
    return np.maximum(trace.start[parts.cut], begin), np.minimum(trace.end[parts.cut], end)


def _inner(trace: Trace, parts: _Parts) -> Numbers:
    """int64 [slices]: what the rows below cover of slices that lie completely in the range; undefined for others."""
    if int((parts.high - parts.low).sum()) >= _FEW:
        return stored_covered_below(trace)
    inner = np.zeros(len(trace.start), np.int64)
    whole = indexes(parts.low, parts.high)
    rows = np.repeat(parts.span.rows, parts.high - parts.low)
    inner[whole] = covered_below(trace, rows, trace.start[whole], trace.end[whole])
    return inner


def _statistics(begin: int, end: int, tally: Tally) -> Statistics:
    occurring = np.flatnonzero(tally.table[COUNT])
    order = occurring[np.argsort(-tally.table[TOTAL, occurring], kind="stable")]
    count, total, wall, own, shortest, longest = tally.table[:, order]
    return Statistics(
        begin=begin,
        end=end,
        name=order,
        count=count,
        total=total,
        wall=wall,
        own=own,
        shortest=shortest,
        longest=longest,
    )
