"""Actions of the keys in the view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.timeline.query.arrows import arrows_of
from backends.timeline.query.slice_lookup import next_slice, previous_slice
from ui.timeline.state.selection import TimeRange
from ui.timeline.state.viewport import MARGIN_SHARE

if TYPE_CHECKING:
    from collections.abc import Callable

    from ui.timeline.state.view_state import ViewState

ZOOM = 1.35
PAN = 0.12
ROW_STEP = 4


def zoom(state: ViewState, factor: float, around: float | None) -> None:
    state.viewport.zoom(factor, (state.viewport.begin + state.viewport.end) / 2 if around is None else around)


def go_begin(state: ViewState) -> None:
    """Show the beginning of the trace at the current zoom, with a little room before it."""
    begin = -MARGIN_SHARE * state.viewport.span
    state.viewport.show(begin, begin + state.viewport.span)


def go_end(state: ViewState) -> None:
    end = (state.trace.span if state.trace else 0) + MARGIN_SHARE * state.viewport.span
    state.viewport.show(end - state.viewport.span, end)


def mark_range(state: ViewState) -> None:
    """Select the range of the selected slice; a second call clears it."""
    if state.selection.slice < 0:
        return
    begin, end = state.times_of(state.selection.slice)
    chosen = TimeRange(begin=begin, end=max(end, begin + 1))
    state.selection.choose_range(None if state.selection.range == chosen else chosen)


def step_slice(state: ViewState, find: Callable[..., int]) -> None:
    if (
        state.trace is not None
        and state.selection.slice >= 0
        and (index := find(state.trace, state.selection.slice)) >= 0
    ):
        state.reveal(index)


def next_in_lane(state: ViewState) -> None:
    step_slice(state, next_slice)


def previous_in_lane(state: ViewState) -> None:
    step_slice(state, previous_slice)


def follow(state: ViewState, *, back: bool) -> None:
    """Follow the first flow that leads to the selected slice, or away from it; where there is none, the other way."""
    if state.trace is None or state.selection.slice < 0:
        return
    arrows = [arrow for arrow in arrows_of(state.trace, state.selection.slice) if arrow.other >= 0]
    preferred = [arrow for arrow in arrows if arrow.incoming == back] or arrows
    if preferred:
        state.reveal(preferred[0].other)


def toggle_baseline(state: ViewState) -> None:
    state.selection.set_baseline(-1 if state.selection.baseline == state.selection.slice else state.selection.slice)


def align(state: ViewState, which: int) -> None:
    """Shift the lane of the selected slice so that its start (0) or end (1) coincides with the baseline's."""
    if state.trace is None or state.selection.slice < 0 or state.selection.baseline < 0:
        return
    lane = state.lane_of(state.selection.slice)
    by = state.times_of(state.selection.baseline)[which] - state.times_of(state.selection.slice)[which]
    if lane != state.lane_of(state.selection.baseline):
        state.lanes.set_offset(lane, state.lanes.offset_of(lane) + by)


def change_rows(state: ViewState, by: int) -> None:
    """Change the row height, low rows in small steps: below 13 px no names are drawn, and rows of 2 px show a thousand
    lanes at once."""
    height = state.lanes.arrangement.row_height
    state.lanes.set_row_height(height + (by if height + by >= 12 else by // 2 if height + by // 2 >= 2 else 0))
