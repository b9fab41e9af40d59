"""Flows between slices: which ones a slice has, where they lead, and which ones to draw.

An end of a flow names a lane and a time. It belongs to the slice there that contains the time and began last (of
equals, the deepest); where none contains it, to the slice that ends at that moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from backends.timeline.query.bounds import first_from

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from backends.timeline.trace import Trace

    Numbers = NDArray[np.int64]

BACKWARD = "fwdbwd"  # from a forward operator to its backward one: nobody calls anybody there
LONGEST_CHAIN = 8
MANY = 256
_lanes_by_trace: WeakKeyDictionary[Trace, Numbers] = WeakKeyDictionary()
_borders_by_trace: WeakKeyDictionary[Trace, tuple[Numbers, Numbers]] = WeakKeyDictionary()


@dataclass(frozen=True, kw_only=True)
class Arrow:
    """A flow as seen from a slice. `incoming`: it leads to the slice. `other`: the slice at the other end, -1 for none.
    `number`: its position in `trace.arrow`."""

    number: int
    kind: str
    incoming: bool
    this: int
    other: int
    this_time: int
    other_lane: int
    other_time: int


@dataclass(frozen=True, kw_only=True)
class Arrows:
    """Arrows to draw. `ends` int64 [n, 4] as in `trace.arrow`; `kind` int32 [n]; `number` [n]: positions in
    `trace.arrow`; `begins_at`, `leads_to` int64 [n]: the slices at the ends or -1. `left_out`: roughly how many more
    there are."""

    ends: Numbers
    kind: NDArray[np.int32]
    number: Numbers
    begins_at: Numbers
    leads_to: Numbers
    left_out: int


def slices_of_ends(trace: Trace, lanes: Numbers, times: Numbers) -> Numbers:
    """Return the slice that each flow end belongs to, by lane and time; -1 for none."""
    first, depth = _lanes(trace)[:, lanes]
    which = np.repeat(np.arange(len(lanes)), depth)
    owners = np.full(len(lanes), -1, np.int64)
    if not len(which):
        return owners
    rows = np.arange(len(which)) - np.repeat(np.cumsum(depth) - depth, depth) + first[which]
    at, low = times[which], trace.row_begin[rows]
    index = first_from(trace.start, low, trace.row_begin[rows + 1], at, above=True) - 1
    begun = np.flatnonzero(index >= low)
    which, rows, at, index = which[begun], rows[begun], at[begun], index[begun]
    start, end = trace.start[index], trace.end[index]
    rank = np.where((at < end) | (at == start), 2, np.where(at == end, 1, 0))
    order = np.lexsort((rows, start, rank))
    order = order[rank[order] > 0]
    owners[which[order]] = index[order]  # the last of several to one place stays
    return owners


def _lanes(trace: Trace) -> Numbers:
    """Return the first row and the number of rows of each lane, int64 [2, lanes]."""
    if trace not in _lanes_by_trace:
        facts = [(lane.first_row, lane.rows) for lane in trace.meta.lanes]
        _lanes_by_trace[trace] = np.array(facts, np.int64).reshape(-1, 2).T
    return _lanes_by_trace[trace]


def arrows_of(trace: Trace, index: int) -> tuple[Arrow, ...]:
    """Return the flows of a slice in order of time, incoming ones first."""
    lane = np.array([trace.lane_of(index)])
    start, end = int(trace.start[index]), int(trace.end[index])
    (low, high), (low_to, high_to) = (_within(trace, lane, start, end + 1, to=to) for to in (False, True))
    incoming = trace.arrow_by_to[low_to[0] : high_to[0]].astype(np.int64)
    arriving = [*_arrows_from(trace, index, incoming, incoming=True)]
    return (*arriving, *_arrows_from(trace, index, np.arange(low[0], high[0]), incoming=False))


def _within(trace: Trace, lanes: Numbers, begin: int, end: int, *, to: bool) -> tuple[Numbers, Numbers]:
    """Return for each lane the range of positions, low to high - 1, of the flows that begin there (`to`: lead there) in
    [begin, end): in `trace.arrow`, or in `trace.arrow_by_to`."""
    borders = _borders(trace)[int(to)]
    times = _LeadsTo(trace) if to else trace.arrow[:, 1]
    low = first_from(times, borders[lanes], borders[lanes + 1], begin)
    return low, first_from(times, low, borders[lanes + 1], end)


def _borders(trace: Trace) -> tuple[Numbers, Numbers]:
    """Return where the flows of each lane begin in `trace.arrow` and in `trace.arrow_by_to`: int64 [lanes + 1]."""
    if trace not in _borders_by_trace:
        lanes = np.arange(len(trace.meta.lanes) + 1)
        into = trace.arrow[trace.arrow_by_to, 2]
        _borders_by_trace[trace] = (np.searchsorted(trace.arrow[:, 0], lanes), np.searchsorted(into, lanes))
    return _borders_by_trace[trace]


@dataclass(frozen=True)
class _LeadsTo:
    """The times at which flows end, in the order of `arrow_by_to`, looked up on demand."""

    trace: Trace

    def __getitem__(self, places: Numbers, /) -> Numbers:
        times: Numbers = self.trace.arrow[self.trace.arrow_by_to[places], 3]
        return times


def _arrows_from(trace: Trace, index: int, numbers: Numbers, *, incoming: bool) -> Iterable[Arrow]:
    if len(numbers) > MANY:
        numbers = numbers[_not_deeper(trace, index, trace.arrow[numbers, 3 if incoming else 1])]
    ends = np.asarray(trace.arrow[numbers])
    near, far = (ends[:, 2:], ends[:, :2]) if incoming else (ends[:, :2], ends[:, 2:])
    own = slices_of_ends(trace, near[:, 0], near[:, 1]) == index
    numbers, near, far = numbers[own], near[own], far[own]
    others = slices_of_ends(trace, far[:, 0], far[:, 1])
    for number, (_, this_time), (lane, time), other in zip(
        numbers.tolist(), near.tolist(), far.tolist(), others.tolist(), strict=True
    ):
        yield Arrow(
            number=number,
            kind=trace.meta.flow_kinds[int(trace.arrow_kind[number])],
            incoming=incoming,
            this=index,
            other=other,
            this_time=this_time,
            other_lane=lane,
            other_time=time,
        )


def _not_deeper(trace: Trace, index: int, times: Numbers) -> Numbers:
    """Return positions of the times that no slice below contains: a step contains all flows of its thread, but few
    belong to it. Row by row, since most are excluded by the first one."""
    own = trace.row_of(index)
    lane = trace.meta.lanes[int(trace.row_lane[own])]
    left = np.arange(len(times))
    for row in range(own + 1, lane.first_row + lane.rows):
        first, behind = int(trace.row_begin[row]), int(trace.row_begin[row + 1])
        at = first - 1 + np.searchsorted(trace.start[first:behind], times[left], "right")
        inside = (at >= first) & (times[left] < trace.end[np.maximum(at, first)])
        left = left[~(inside & (trace.start[np.maximum(at, first)] >= trace.start[index]))]
    return left


def visible_arrows(
    trace: Trace, begin: int, end: int, lanes: Sequence[int], limit: int, kinds: Sequence[int] | None = None
) -> Arrows:
    """Return flows between `lanes` that begin or end in [begin, end], at most `limit`, evenly chosen. `kinds`: numbers
    of `meta.flow_kinds`, None for all. Flows that merely pass over the range are left out."""
    is_visible = np.zeros(len(trace.meta.lanes) + 1, bool)
    is_visible[list(lanes)] = True
    has_kind = np.ones(len(trace.meta.flow_kinds), bool)
    if kinds is not None:
        has_kind[:] = np.isin(np.arange(len(has_kind)), list(kinds))
    which = np.array(lanes, np.int64)
    out, into = (_within(trace, which, begin, end, to=to) for to in (False, True))
    leading = trace.arrow_by_to[_spread(*into, limit)].astype(np.int64)
    numbers = np.unique(np.concatenate([_spread(*out, limit), leading]))
    numbers = numbers[has_kind[trace.arrow_kind[numbers]] & is_visible[trace.arrow[numbers][:, [0, 2]]].all(axis=1)]
    chosen = numbers[_evenly(len(numbers), limit)]
    ends = np.asarray(trace.arrow[chosen])
    return Arrows(
        ends=ends,
        kind=np.asarray(trace.arrow_kind[chosen]),
        number=chosen,
        begins_at=slices_of_ends(trace, ends[:, 0], ends[:, 1]),
        leads_to=slices_of_ends(trace, ends[:, 2], ends[:, 3]),
        left_out=max(int((out[1] - out[0]).sum()), len(numbers)) - len(chosen),
    )


def _spread(low: Numbers, high: Numbers, limit: int) -> Numbers:
    """Return the positions low to high - 1 of all lanes; a sample where there are far more than can be drawn."""
    counts = high - low
    total = int(counts.sum())
    places = np.arange(0, total, max(1, total // (16 * max(1, limit))))
    lane = np.searchsorted(np.cumsum(counts), places, "right")
    positions: Numbers = places - (np.cumsum(counts) - counts)[lane] + low[lane]
    return positions


def _evenly(count: int, limit: int) -> Numbers:
    return np.arange(count) if count <= limit else np.linspace(0, count - 1, limit).astype(np.int64)


def host_call_of(trace: Trace, index: int) -> tuple[Arrow, ...]:
    """Follow flows from a kernel back to the framework call that started it. Returns arrows, each from `this` to
    `other`; the last one's `other` is in a host lane. Empty where no flow leads there. The shortest path is returned.
    """
    ways: list[tuple[int, tuple[Arrow, ...]]] = [(index, ())]
    visited = {index}
    for _ in range(LONGEST_CHAIN):
        further: list[tuple[int, tuple[Arrow, ...]]] = []
        for slice_at_end, path in ways:
            for arrow in arrows_of(trace, slice_at_end):
                if arrow.incoming and arrow.kind != BACKWARD and arrow.other >= 0 and arrow.other not in visited:
                    visited.add(arrow.other)
                    further.append((arrow.other, (*path, arrow)))
        for slice_at_end, path in further:
            if trace.meta.lanes[trace.lane_of(slice_at_end)].kind == "host":
                return path
        ways = further
    return ()
