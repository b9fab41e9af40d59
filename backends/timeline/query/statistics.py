"""What happens in a range of time, by name: how often, how long, how long alone.

A slice counts with its part inside the range. Of a name, over the chosen rows:
count   how many slices lie in the range, if only by a part
total   sum of the parts
wall    time in which at least one of them runs: the length of their union, so that overlaps count once
own     sum of the parts without what the row below covers, in lanes of calls (host, api); elsewhere as total
least, most, mean   of the parts; mean = total / count
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.query import fast
from backends.timeline.query.covered import indexes, pieces, seen_before, under
from backends.timeline.query.prepared import inner_of, is_prepared, seen_of
from backends.timeline.query.span import Span, span_of
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
    """Of [begin, end): arrays int64 [names in the range], the largest total first; times in ns. `name`: its number."""

    begin: int
    end: int
    name: Numbers
    count: Numbers
    total: Numbers
    wall: Numbers
    own: Numbers
    least: Numbers
    most: Numbers

    @property
    def mean(self) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self.total / self.count
        return found


def range_statistics(
    trace: Trace, begin: int, end: int, rows: Sequence[int] | None = None, offsets: Mapping[int, int] | None = None
) -> Statistics:
    """Of [begin, end), ns since the origin; with `rows` of those only. `offsets`: lane -> ns by which it is shown later
    than it was. Off the UI thread: ten million slices take tenths of a second."""
    span = span_of(trace, begin, end, rows, offsets)
    tally = Tally(len(trace.name_family))
    kernels = fast.loaded()
    by_prepared = span.is_all and (is_prepared(trace) or span.count >= _FEW)
    if kernels:
        kernels.tally(trace, span, seen_of(trace) if by_prepared else kernels.seen_before(trace, span), tally)
    else:
        (_add_prepared if by_prepared else _add_sorted)(trace, _parts(trace, span), tally)
    return _statistics(begin, end, tally)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Parts:
    """Those slices of a range that lie in it whole are low to high - 1 of each row; `cut` are the others, at most two in
    a row, in order of their start in the time shown, `cut_row` their places among the rows."""

    span: Span
    low: Numbers
    high: Numbers
    cut: Numbers
    cut_row: Numbers


def _parts(trace: Trace, span: Span) -> _Parts:
    some = np.flatnonzero(span.low < span.high)
    first, last = span.low[some], span.high[some] - 1
    before = trace.start[first] < span.begin[some]
    behind = (trace.end[last] > span.end[some]) & ~(before & (first == last))
    low, high = span.low.copy(), span.high.copy()
    low[some] += before
    high[some] -= behind
    cut, cut_row = np.concatenate([first[before], last[behind]]), np.concatenate([some[before], some[behind]])
    order = np.argsort(np.maximum(trace.start[cut], span.begin[cut_row]) + span.shift[cut_row], kind="stable")
    return _Parts(span=span, low=low, high=high, cut=cut[order], cut_row=cut_row[order])


def _add_prepared(trace: Trace, parts: _Parts, tally: Tally) -> None:
    seen, inner = seen_of(trace), inner_of(trace)
    for at in pieces(parts.low, parts.high, _CHUNK):
        end = trace.end[at]
        length = end - trace.start[at]
        tally.add(trace.name[at], length, end - seen[at], length - inner[at])
    start, end = _cut(trace, parts)
    covered = under(trace, parts.span.rows[parts.cut_row], start, end)
    wall = end - np.clip(seen[parts.cut], start, end)
    tally.add(trace.name[parts.cut], end - start, wall, end - start - covered)


def _cut(trace: Trace, parts: _Parts) -> tuple[Numbers, Numbers]:
    """Start and end of the parts of the slices that are cut."""
    begin, end = parts.span.begin[parts.cut_row], parts.span.end[parts.cut_row]
    return np.maximum(trace.start[parts.cut], begin), np.minimum(trace.end[parts.cut], end)


def _add_sorted(trace: Trace, parts: _Parts, tally: Tally) -> None:
    """Of some rows, or moved against each other: what covers what is found anew, for this range alone."""
    whole = indexes(parts.low, parts.high)
    place = np.concatenate([np.repeat(np.arange(len(parts.low)), parts.high - parts.low), parts.cut_row])
    cut_start, cut_end = _cut(trace, parts)
    start, end = np.concatenate([trace.start[whole], cut_start]), np.concatenate([trace.end[whole], cut_end])
    covered = _inner(trace, parts, whole, place, start, end)
    name = np.concatenate([trace.name[whole], trace.name[parts.cut]])
    moved = parts.span.shift[place]
    moved -= int((start + moved).min(initial=0))
    borders = np.concatenate([[0], np.cumsum(parts.high - parts.low), [len(start)]])
    seen = seen_before(start + moved, end + moved, name, len(trace.name_family), borders)
    length = end - start
    tally.add(name, length, end + moved - seen, length - covered)


def _inner(trace: Trace, parts: _Parts, whole: Numbers, place: Numbers, start: Numbers, end: Numbers) -> Numbers:
    """What the rows below cover of all parts, the whole ones first."""
    rows = parts.span.rows[place]
    if len(whole) < _FEW:
        return under(trace, rows, start, end)
    behind = slice(len(whole), None)
    return np.concatenate([inner_of(trace)[whole], under(trace, rows[behind], start[behind], end[behind])])


def _statistics(begin: int, end: int, tally: Tally) -> Statistics:
    there = np.flatnonzero(tally.table[COUNT])
    order = there[np.argsort(-tally.table[TOTAL, there], kind="stable")]
    count, total, wall, own, least, most = tally.table[:, order]
    return Statistics(
        begin=begin, end=end, name=order, count=count, total=total, wall=wall, own=own, least=least, most=most
    )
