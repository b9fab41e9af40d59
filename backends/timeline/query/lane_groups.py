"""Statistics of a range by lanes that belong together: those of one kind and rank.

A name may stand in lanes that have nothing in common, such as a kernel of two ranks; and one activity may stand in two
lanes, such as a wait on its stream and on its communication plane. So figures are added up within a group only.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from backends.timeline.query.statistics import Statistics, range_statistics

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from backends.timeline.trace import Lane, Trace

    Numbers = NDArray[np.int64]

# stack: frames of Python; the others are kinds of lanes.
GroupKind = Literal["device", "communication", "host", "stack", "api", "overlap", "other"]
GROUP_KINDS: tuple[GroupKind, ...] = get_args(GroupKind)
_STACK = "\x00python"  # how the tid of a lane ends that holds frames of Python
MAX_GROUPS = 64  # ranks are taken together where there would be more


@dataclass(frozen=True, kw_only=True)
class LaneGroup:
    """`rank`: None where it is unknown, or where the ranks are taken together. `rows`: None for all of the trace."""

    kind: GroupKind
    rank: int | None
    rows: tuple[int, ...] | None


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupedStatistics:
    """`statistics` of all groups, largest total first; `group` int64 [rows of it]: number of the group."""

    groups: tuple[LaneGroup, ...]
    group: Numbers
    statistics: Statistics

    def group_of(self, row: int) -> LaneGroup:
        return self.groups[int(self.group[row])]


def kinds_in(trace: Trace) -> tuple[GroupKind, ...]:
    """Return the kinds of lanes with slices, kernels first."""
    present = {group_kind(lane) for lane in trace.meta.lanes if lane.slices or lane.rows}
    return tuple(kind for kind in GROUP_KINDS if kind in present)


def group_kind(lane: Lane) -> GroupKind:
    if lane.tid.endswith(_STACK):
        return "stack"
    return "other" if lane.kind == "counter" else lane.kind


def lane_groups(
    trace: Trace, kind: GroupKind | None = None, rows: Iterable[int] | None = None
) -> tuple[LaneGroup, ...]:
    """Return the groups of the lanes of a kind, or of all. `rows`: of those only."""
    chosen = range(len(trace.row_lane)) if rows is None else sorted(set(rows))
    of_lane: defaultdict[int, list[int]] = defaultdict(list)
    for row in chosen:
        of_lane[int(trace.row_lane[row])].append(row)
    by_group = _by_group(trace, kind, of_lane, is_by_rank=True)
    if len(by_group) > MAX_GROUPS:
        by_group = _by_group(trace, kind, of_lane, is_by_rank=False)
    return tuple(
        LaneGroup(kind=kind, rank=rank, rows=None if len(rows) == len(trace.row_lane) else tuple(rows))
        for (kind, rank), rows in by_group.items()
    )


def _by_group(
    trace: Trace, kind: GroupKind | None, of_lane: Mapping[int, list[int]], *, is_by_rank: bool
) -> dict[tuple[GroupKind, int | None], list[int]]:
    by_group: defaultdict[tuple[GroupKind, int | None], list[int]] = defaultdict(list)
    for number, rows in of_lane.items():
        lane = trace.meta.lanes[number]
        rank = trace.meta.processes[lane.process].rank if is_by_rank else None
        if kind in (None, group_kind(lane)):
            by_group[group_kind(lane), rank] += rows
    return dict(by_group)


def grouped_statistics(
    trace: Trace, begin: int, end: int, groups: Sequence[LaneGroup], offsets: Mapping[int, int] | None = None
) -> GroupedStatistics:
    """Return the statistics of [begin, end) of each group. Not for the UI thread, as `range_statistics`."""
    each = [range_statistics(trace, begin, end, group.rows, offsets) for group in groups]
    columns = {
        name: np.concatenate([np.empty(0, np.int64), *(getattr(figures, name) for figures in each)])
        for name in ("name", "count", "total", "wall", "own", "shortest", "longest")
    }
    group = np.repeat(np.arange(len(groups)), [len(figures.name) for figures in each])
    order = np.argsort(-columns["total"], kind="stable")
    figures = Statistics(begin=begin, end=end, **{name: column[order] for name, column in columns.items()})
    return GroupedStatistics(groups=tuple(groups), group=group[order], statistics=figures)
