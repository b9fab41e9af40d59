"""What a lane is called outside the view, where nothing around it says whose it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.texts import t

if TYPE_CHECKING:
    from ui.timeline.state import ViewState


def process_text(state: ViewState, process: int) -> str:
    assert state.trace is not None
    one = state.trace.meta.processes[process]
    name = one.name or t("timeline.view.process", pid=one.pid)
    has_rank = one.rank is not None and state.has_ranks
    return t("timeline.view.rank_process", rank=one.rank, name=name) if has_rank else name


def lane_text(state: ViewState, lane: int) -> str:
    """'Rank 1 · Ascend Hardware · Stream 2'."""
    assert state.trace is not None
    process = state.trace.meta.lanes[lane].process
    return f"{process_text(state, process)} · {state.track_name(lane)}"
