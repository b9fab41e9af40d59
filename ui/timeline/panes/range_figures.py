"""Figures of a range for the range pane, computed off the UI thread."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.timeline.query.device_usage import Busy, busy
from backends.timeline.query.lane_groups import GROUP_KINDS, grouped_statistics, lane_groups
from backends.timeline.tables.summary_sentence import share_text
from studio.texts import t
from ui.timeline.drawing.time_text import length_text
from ui.timeline.panes.list_model import Column
from ui.timeline.panes.name_order import name_order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from backends.timeline.query.lane_groups import GroupedStatistics, GroupKind
    from backends.timeline.query.statistics import Statistics
    from backends.timeline.trace import Trace
    from ui.timeline.state.view_state import ViewState


MAX_DEVICES = 64
KIND_TEXTS: dict[GroupKind, str] = {
    "device": "timeline.range.kind.device",
    "communication": "timeline.range.kind.communication",
    "host": "timeline.range.kind.host",
    "stack": "timeline.range.kind.stack",
    "api": "timeline.range.kind.api",
    "overlap": "timeline.range.kind.overlap",
    "other": "timeline.range.kind.other",
}
BUSY_PARTS = ("computing", "exposed", "free")


@dataclass(frozen=True, kw_only=True)
class Question:
    """`is_chosen`: the range was selected, else it is the visible one. `rows`: None for all. `kind`: of lanes, None for
    all."""

    begin: int
    end: int
    is_chosen: bool
    rows: Sequence[int] | None
    offsets: Mapping[int, int] | None
    kind: GroupKind | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Reckoned:
    """`devices`: empty where no device was traced, or lanes were moved against each other. `by_name`: alphabetical
    order of the names."""

    trace: Trace
    question: Question
    grouped: GroupedStatistics
    devices: tuple[Busy, ...]
    by_name: NDArray[np.int64] | None

    @property
    def statistics(self) -> Statistics:
        return self.grouped.statistics


def reckon(trace: Trace, question: Question) -> Reckoned:
    groups = lane_groups(trace, question.kind, question.rows)
    grouped = grouped_statistics(trace, question.begin, question.end, groups, question.offsets)
    return Reckoned(
        trace=trace,
        question=question,
        grouped=grouped,
        devices=() if question.offsets else busy(trace, question.begin, question.end),
        by_name=name_order(trace, grouped.statistics.name),
    )


def devices_text(devices: Sequence[Busy]) -> str:
    """Return one sentence, the mean of several devices; empty where there are none."""
    if not devices:
        return ""
    if len(devices) == 1:
        return device_text(devices[0])
    whole = sum(map(_whole, devices))
    shares = {name: share_text(sum(getattr(device, name) for device in devices) / whole) for name in BUSY_PARTS}
    return t("timeline.range.devices", count=len(devices), **shares)


def device_text(device: Busy) -> str:
    shares = {name: share_text(getattr(device, name) / _whole(device)) for name in BUSY_PARTS}
    text = t("timeline.range.device", name=device.label or "–", **shares)
    return text if device.rank is None else t("timeline.view.rank_process", rank=device.rank, name=text)


def devices_tip(devices: Sequence[Busy]) -> str:
    return "\n".join(map(device_text, devices[:MAX_DEVICES])) if len(devices) > 1 else ""


def _whole(device: Busy) -> int:
    return max(1, device.computing + device.exposed + device.free)


def question_of(state: ViewState, trace: Trace, kind: GroupKind | None = None) -> Question:
    """Return the question about the selected range, else about the visible one. `kind`: of lanes, None for all."""
    chosen = state.selection.range
    begin, end = state.viewport.in_view if chosen is None else (chosen.begin, chosen.end)
    return Question(
        begin=begin,
        end=max(begin, end),
        is_chosen=chosen is not None,
        rows=_rows(state, trace),
        offsets=_offsets(state, trace),
        kind=kind,
    )


def _rows(state: ViewState, trace: Trace) -> tuple[int, ...] | None:
    """Return the rows of the visible lanes, None where all are visible."""
    bands = state.lanes.bands
    over = [row for rows in bands.over.values() for row in rows]
    rows: NDArray[np.int64] = np.unique(np.concatenate([bands.row[bands.row >= 0], np.array(over, np.int64)]))
    return None if len(rows) == len(trace.row_lane) else tuple(rows.tolist())


def _offsets(state: ViewState, trace: Trace) -> dict[int, int] | None:
    if not state.lanes.arrangement.offsets:
        return None
    offsets = {lane: state.lanes.offset_of(lane) for lane in range(len(trace.meta.lanes))}
    return {lane: offset for lane, offset in offsets.items() if offset}


HINT = "timeline.range.hint"


def range_columns(figures_of_range: Reckoned) -> tuple[Column, ...]:
    trace, figures = figures_of_range.trace, figures_of_range.statistics
    texts: dict[str, NDArray[Any]] = {
        "timeline.range.wall": figures.wall, "timeline.range.total": figures.total, "timeline.range.own": figures.own,
        "timeline.range.mean": figures.mean, "timeline.range.least": figures.shortest,
        "timeline.range.most": figures.longest,
    }  # fmt: skip
    return (
        Column(
            head="timeline.range.name",
            text=lambda row: trace.name_text(int(figures.name[row])),
            order=figures_of_range.by_name,
            hint=HINT,
        ),
        *_group_columns(figures_of_range.grouped),
        Column(
            head="timeline.range.count",
            text=lambda row: f"{int(figures.count[row]):,}",
            order=figures.count,
            is_number=True,
        ),
        *(
            Column(head=head, text=partial(_length, values), order=values, is_number=True, hint=HINT)
            for head, values in texts.items()
        ),
    )


def _group_columns(grouped: GroupedStatistics) -> tuple[Column, ...]:
    """Return columns of the kind of lanes and of the rank, each where there are several."""
    kinds = np.array([GROUP_KINDS.index(group.kind) for group in grouped.groups], np.int64)
    ranks = np.array([-1 if group.rank is None else group.rank for group in grouped.groups], np.int64)
    columns = (
        Column(
            head="timeline.range.lanes",
            text=lambda row: t(KIND_TEXTS[grouped.group_of(row).kind]),
            order=kinds[grouped.group],
        ),
        Column(
            head="timeline.range.rank",
            text=lambda row: "–" if (rank := grouped.group_of(row).rank) is None else str(rank),
            order=ranks[grouped.group],
            is_number=True,
        ),
    )
    return tuple(column for column, values in zip(columns, (kinds, ranks), strict=True) if len(np.unique(values)) > 1)


def _length(values: NDArray[Any], row: int) -> str:
    return length_text(float(values[row]))
