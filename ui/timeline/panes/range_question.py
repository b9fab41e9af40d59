"""Which range is asked for, and of which rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ui.timeline.panes.reckoned import Question

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.timeline.trace import Trace
    from ui.timeline.state import ViewState


def question_of(state: ViewState, trace: Trace) -> Question:
    """The range that was drawn, else what is in view."""
    chosen = state.selected_range
    begin, end = state.in_view if chosen is None else (chosen.begin, chosen.end)
    return Question(
        begin=begin,
        end=max(begin, end),
        is_chosen=chosen is not None,
        rows=_rows(state, trace),
        offsets=_offsets(state, trace),
    )


def _rows(state: ViewState, trace: Trace) -> tuple[int, ...] | None:
    """Of the lanes that are shown, None where all are."""
    bands = state.bands
    over = [row for rows in bands.over.values() for row in rows]
    rows: NDArray[np.int64] = np.unique(np.concatenate([bands.row[bands.row >= 0], np.array(over, np.int64)]))
    return None if len(rows) == len(trace.row_lane) else tuple(rows.tolist())


def _offsets(state: ViewState, trace: Trace) -> dict[int, int] | None:
    if not state.arrangement.offsets:
        return None
    found = {lane: state.offset_of(lane) for lane in range(len(trace.meta.lanes))}
    return {lane: offset for lane, offset in found.items() if offset}
