"""What the keys do in the view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.timeline.query.arrows import arrows_of
from backends.timeline.query.hit import next_slice, previous_slice
from ui.timeline.state import ROOM, TimeRange

if TYPE_CHECKING:
    from collections.abc import Callable

    from ui.timeline.state import ViewState

ZOOM = 1.35
PAN = 0.12
ROW_STEP = 4


def zoom(state: ViewState, factor: float, around: float | None) -> None:
    state.zoom(factor, (state.begin + state.end) / 2 if around is None else around)


def go_begin(state: ViewState) -> None:
    """As much as is in view now, from the first event on, with a little room before it."""
    begin = -ROOM * state.span
    state.show(begin, begin + state.span)


def go_end(state: ViewState) -> None:
    end = (state.trace.span if state.trace else 0) + ROOM * state.span
    state.show(end - state.span, end)


def mark_range(state: ViewState) -> None:
    """The range of the selected slice; a second time lets go of it."""
    if state.selected < 0:
        return
    begin, end = state.times_of(state.selected)
    wanted = TimeRange(begin=begin, end=max(end, begin + 1))
    state.choose_range(None if state.selected_range == wanted else wanted)


def step_slice(state: ViewState, find: Callable[..., int]) -> None:
    if state.trace is not None and state.selected >= 0 and (index := find(state.trace, state.selected)) >= 0:
        state.reveal(index)


def next_in_lane(state: ViewState) -> None:
    step_slice(state, next_slice)


def previous_in_lane(state: ViewState) -> None:
    step_slice(state, previous_slice)


def follow(state: ViewState, *, back: bool) -> None:
    """Along the first flow that leads to the selected slice, or away from it; where there is none, the other way."""
    if state.trace is None or state.selected < 0:
        return
    found = [one for one in arrows_of(state.trace, state.selected) if one.other >= 0]
    wanted = [one for one in found if one.incoming == back] or found
    if wanted:
        state.reveal(wanted[0].other)


def toggle_baseline(state: ViewState) -> None:
    state.set_baseline(-1 if state.baseline == state.selected else state.selected)


def align(state: ViewState, which: int) -> None:
    """Moves the lane of the selected slice so that its start (0) or end (1) lies where the baseline's does."""
    if state.trace is None or state.selected < 0 or state.baseline < 0:
        return
    lane = state.lane_of(state.selected)
    by = state.times_of(state.baseline)[which] - state.times_of(state.selected)[which]
    if lane != state.lane_of(state.baseline):
        state.set_offset(lane, state.offset_of(lane) + by)


def change_rows(state: ViewState, by: int) -> None:
    """Low rows in small steps: below 13 px no names are drawn, and rows of 2 px show a thousand lanes at once."""
    height = state.arrangement.row_height
    state.set_row_height(height + (by if height + by >= 12 else by // 2 if height + by // 2 >= 2 else 0))
