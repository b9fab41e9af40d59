"""Flows between slices: which ones a slice has, where they lead, and those to be drawn.

An end of a flow names a lane and a time. The slice it belongs to is the one there that contains the time and began last
(of equals, the deepest); where none contains it, the one that ends just then.
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
_known_lanes: WeakKeyDictionary[Trace, Numbers] = WeakKeyDictionary()
_known_borders: WeakKeyDictionary[Trace, tuple[Numbers, Numbers]] = WeakKeyDictionary()


@dataclass(frozen=True, kw_only=True)
class Arrow:
    """A flow as seen from a slice. `incoming`: it leads to the slice. `other`: the slice at its far end, -1 for none.
    `number`: its place in `trace.arrow`."""

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
    """To be drawn: `ends` int64 [n, 4] as in `trace.arrow`, `kind` int32 [n], `number` [n]: the place in `trace.arrow`;
    `begins_at`, `leads_to` int64 [n]: the slices at its ends or -1. `left_out`: about how many there are beside."""

    ends: Numbers
    kind: NDArray[np.int32]
    number: Numbers
    begins_at: Numbers
    leads_to: Numbers
    left_out: int


def slices_of_ends(trace: Trace, lanes: Numbers, times: Numbers) -> Numbers:
    """For ends of flows, by lane and time: the slice each belongs to, -1 for none."""
    first, depth = _lanes(trace)[:, lanes]
    which = np.repeat(np.arange(len(lanes)), depth)
    found = np.full(len(lanes), -1, np.int64)
    if not len(which):
        return found
    rows = np.arange(len(which)) - np.repeat(np.cumsum(depth) - depth, depth) + first[which]
    at, low = times[which], trace.row_begin[rows]
    index = first_from(trace.start, low, trace.row_begin[rows + 1], at, above=True) - 1
    there = np.flatnonzero(index >= low)
    which, rows, at, index = which[there], rows[there], at[there], index[there]
    start, end = trace.start[index], trace.end[index]
    rank = np.where((at < end) | (at == start), 2, np.where(at == end, 1, 0))
    order = np.lexsort((rows, start, rank))
    order = order[rank[order] > 0]
    found[which[order]] = index[order]  # the last of several to one place stays
    return found


def _lanes(trace: Trace) -> Numbers:
    """First row and number of rows of each lane, int64 [2, lanes]."""
    if trace not in _known_lanes:
        facts = [(lane.first_row, lane.rows) for lane in trace.meta.lanes]
        _known_lanes[trace] = np.array(facts, np.int64).reshape(-1, 2).T
    return _known_lanes[trace]


def arrows_of(trace: Trace, index: int) -> tuple[Arrow, ...]:
    """The flows of a slice, those that lead to it first, in order of time."""
    lane = np.array([trace.lane_of(index)])
    start, end = int(trace.start[index]), int(trace.end[index])
    (low, high), (low_to, high_to) = (_within(trace, lane, start, end + 1, to=to) for to in (False, True))
    incoming = trace.arrow_by_to[low_to[0] : high_to[0]].astype(np.int64)
    found = [*_seen_from(trace, index, incoming, incoming=True)]
    return (*found, *_seen_from(trace, index, np.arange(low[0], high[0]), incoming=False))


def _within(trace: Trace, lanes: Numbers, begin: int, end: int, *, to: bool) -> tuple[Numbers, Numbers]:
    """For each lane the places, low to high - 1, of the flows that begin there (`to`: lead there) in [begin, end): of
    `trace.arrow`, or of `trace.arrow_by_to`."""
    borders = _borders(trace)[int(to)]
    times = _LeadsTo(trace) if to else trace.arrow[:, 1]
    low = first_from(times, borders[lanes], borders[lanes + 1], begin)
    return low, first_from(times, low, borders[lanes + 1], end)


def _borders(trace: Trace) -> tuple[Numbers, Numbers]:
    """Where the flows of each lane begin in `trace.arrow` and in `trace.arrow_by_to`: int64 [lanes + 1]."""
    if trace not in _known_borders:
        lanes = np.arange(len(trace.meta.lanes) + 1)
        into = trace.arrow[trace.arrow_by_to, 2]
        _known_borders[trace] = (np.searchsorted(trace.arrow[:, 0], lanes), np.searchsorted(into, lanes))
    return _known_borders[trace]


@dataclass(frozen=True)
class _LeadsTo:
    """The times at which the flows end, in order of `arrow_by_to`, looked up where they are wanted."""

    trace: Trace

    def __getitem__(self, places: Numbers, /) -> Numbers:
        found: Numbers = self.trace.arrow[self.trace.arrow_by_to[places], 3]
        return found


def _seen_from(trace: Trace, index: int, numbers: Numbers, *, incoming: bool) -> Iterable[Arrow]:
    if len(numbers) > MANY:
        numbers = numbers[_not_deeper(trace, index, trace.arrow[numbers, 3 if incoming else 1])]
    ends = np.asarray(trace.arrow[numbers])
    here, there = (ends[:, 2:], ends[:, :2]) if incoming else (ends[:, :2], ends[:, 2:])
    own = slices_of_ends(trace, here[:, 0], here[:, 1]) == index
    numbers, here, there = numbers[own], here[own], there[own]
    others = slices_of_ends(trace, there[:, 0], there[:, 1])
    for number, (_, this_time), (lane, time), other in zip(
        numbers.tolist(), here.tolist(), there.tolist(), others.tolist(), strict=True
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
    """Places of the times that no slice below contains: a step has all flows of its thread inside, and few of its own.
    One row after the other, since most of them go with the first."""
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
    """Flows between `lanes` that begin or end in [begin, end], at most `limit`, evenly chosen; `kinds`: numbers of
    `meta.flow_kinds`, None for all. One that only passes over the range is not drawn."""
    shown = np.zeros(len(trace.meta.lanes) + 1, bool)
    shown[list(lanes)] = True
    wanted = np.ones(len(trace.meta.flow_kinds), bool)
    if kinds is not None:
        wanted[:] = np.isin(np.arange(len(wanted)), list(kinds))
    which = np.array(lanes, np.int64)
    out, into = (_within(trace, which, begin, end, to=to) for to in (False, True))
    leading = trace.arrow_by_to[_spread(*into, limit)].astype(np.int64)
    numbers = np.unique(np.concatenate([_spread(*out, limit), leading]))
    numbers = numbers[wanted[trace.arrow_kind[numbers]] & shown[trace.arrow[numbers][:, [0, 2]]].all(axis=1)]
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
    """The places low to high - 1 of all lanes; where there are far more than can be drawn, only some of them."""
    counts = high - low
    total = int(counts.sum())
    places = np.arange(0, total, max(1, total // (16 * max(1, limit))))
    lane = np.searchsorted(np.cumsum(counts), places, "right")
    found: Numbers = places - (np.cumsum(counts) - counts)[lane] + low[lane]
    return found


def _evenly(count: int, limit: int) -> Numbers:
    return np.arange(count) if count <= limit else np.linspace(0, count - 1, limit).astype(np.int64)


def host_call_of(trace: Trace, index: int) -> tuple[Arrow, ...]:
    """From a kernel back to the call of the framework that started it: arrows, each from `this` to `other`, the last
    one's `other` in a lane of the host; empty where no flow leads there. Of several ways the shortest."""
    ways: list[tuple[int, tuple[Arrow, ...]]] = [(index, ())]
    seen = {index}
    for _ in range(LONGEST_CHAIN):
        further: list[tuple[int, tuple[Arrow, ...]]] = []
        for place, way in ways:
            for arrow in arrows_of(trace, place):
                if arrow.incoming and arrow.kind != BACKWARD and arrow.other >= 0 and arrow.other not in seen:
                    seen.add(arrow.other)
                    further.append((arrow.other, (*way, arrow)))
        for place, way in further:
            if trace.meta.lanes[trace.lane_of(place)].kind == "host":
                return way
        ways = further
    return ()
