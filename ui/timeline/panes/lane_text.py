"""Full names of lanes, for use outside the view, where the process does not show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.texts import t

if TYPE_CHECKING:
    from ui.timeline.state.view_state import ViewState


def process_text(state: ViewState, process: int) -> str:
    assert state.trace is not None
    described = state.trace.meta.processes[process]
    name = described.name or t("timeline.view.process", pid=described.pid)
    has_rank = described.rank is not None and state.has_ranks
    return t("timeline.view.rank_process", rank=described.rank, name=name) if has_rank else name


def lane_text(state: ViewState, lane: int) -> str:
    """Return 'Rank 1 · Ascend Hardware · Stream 2'."""
    assert state.trace is not None
    process = state.trace.meta.lanes[lane].process
    return f"{process_text(state, process)} · {state.lanes.track_name(lane)}"
