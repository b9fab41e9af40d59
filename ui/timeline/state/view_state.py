"""What the window shows of a trace: the object that the canvas, the page and its panes share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

from ui.timeline.state.lane_display import LaneDisplay
from ui.timeline.state.search_hits import SearchHits
from ui.timeline.state.selection import Selection, TimeRange
from ui.timeline.state.trace_mapping import same_kinds, same_slice
from ui.timeline.state.viewport import Viewport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from backends.timeline.query.notes import Mark
    from backends.timeline.trace import Step, Trace
    from ui.timeline.state.lane_arrangement import TrackKey


class ViewState(QObject):
    """`has_ranks`: the trace is of several. `flow_kinds`: of which kinds all arrows are drawn. `time_mode`: "relative",
    "absolute" or "step". `appearance_changed`: the baseline, the kinds of flows or the time mode changed.
    `lanes_focus_requested`: a pane went to a slice, and the lanes are to take the keys."""

    trace_changed = Signal()
    marks_changed = Signal()
    appearance_changed = Signal()
    lanes_focus_requested = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.trace: Trace | None = None
        self.has_ranks = False
        self.viewport, self.lanes = Viewport(self), LaneDisplay(self)
        self.selection, self.hits = Selection(self), SearchHits(self)
        self.marks: tuple[Mark, ...] = ()
        self.flow_kinds: frozenset[int] = frozenset()
        self.time_mode = "relative"
        self.selection.baseline_changed.connect(self.appearance_changed)

    # The trace

    def set_trace(self, trace: Trace) -> None:
        """Show another trace, or the same one of which more has been read: then the view stays where it was moved."""
        previous = self.trace if self.trace is not None and self.trace.root == trace.root else None
        if previous is None and self.trace is not None:
            self._reset()
        selection, viewport, lanes = self.selection, self.viewport, self.lanes
        chosen = [(index, self._lane_key(index)) for index in (selection.slice, selection.baseline)]
        anchor = lanes.anchor_at(lanes.bands.pinned_height + viewport.scroll) if viewport.scroll else None
        self.trace = trace
        self.has_ranks = len({process.rank for process in trace.meta.processes}) > 1
        lanes.set_trace(trace)
        self.hits.reset()
        moved_by = 0
        if previous is not None:
            selection.slice, selection.baseline = (self._renumbered(previous, index, key) for index, key in chosen)
            self.flow_kinds = same_kinds(previous, self.flow_kinds, trace)
            moved_by = previous.meta.origin_ns - trace.meta.origin_ns
            selection.shift_range(moved_by)
        viewport.set_trace_span(trace.span, moved_by)
        height = None if anchor is None else lanes.height_of(anchor)
        if height is not None:  # more lanes may be above it now
            viewport.scroll = max(0, height - lanes.bands.pinned_height)
        self._announce()

    def _announce(self) -> None:
        self.trace_changed.emit()
        self.lanes.changed.emit()
        self.viewport.scroll_changed.emit()
        self.marks_changed.emit()
        self.viewport.range_changed.emit()
        self.selection.slice_chosen.emit(self.selection.slice)
        self.selection.range_chosen.emit(self.selection.range)
        self.hits.changed.emit()

    def _reset(self) -> None:
        """Forget what was chosen in another profile."""
        self.lanes.reset()
        self.selection.reset()
        self.viewport.reset()
        self.marks, self.flow_kinds = (), frozenset()

    def _lane_key(self, index: int) -> TrackKey | None:
        return self.lanes.arrangement.key(self.lane_of(index)) if index >= 0 else None

    def _renumbered(self, previous: Trace, index: int, key: TrackKey | None) -> int:
        """Return the index in this trace of a slice of the previous one; -1 where it is missing."""
        assert self.trace is not None
        lanes = [] if key is None else self.lanes.arrangement.numbers([key])
        return same_slice(previous, index, self.trace, lanes[0]) if lanes else -1

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of the first rank that has some: those of several would cover each other."""
        steps = self.trace.meta.steps if self.trace else ()
        first = min((step.rank for step in steps if step.rank is not None), default=None)
        return tuple(step for step in steps if step.rank == first)

    # Slices and ranges

    def lane_of(self, index: int) -> int:
        assert self.trace is not None
        return self.trace.lane_of(index)

    def times_of(self, index: int) -> tuple[int, int]:
        """Return start and end of a slice as it is drawn: with the offset of its lane."""
        assert self.trace is not None
        offset = self.lanes.offset_of(self.trace.lane_of(index))
        return int(self.trace.start[index]) + offset, int(self.trace.end[index]) + offset

    def reveal(self, index: int) -> None:
        """Select a slice and bring it into view; its lane is shown again where it was hidden."""
        self.lanes.show_lane(self.lane_of(index))
        self.viewport.bring_into_view(*self.times_of(index))
        self.selection.select(index)

    def choose_drawn(self, begin: float, end: float) -> None:
        """Select what was drawn with the pointer, as far as it lies within the trace."""
        last = self.trace.span if self.trace else 0
        first, behind = max(0, round(begin)), min(last, round(end))
        if first < last and behind > 0:
            self.selection.choose_range(TimeRange(begin=first, end=max(behind, first + 1)))

    def fit_selection(self) -> None:
        """Show the selected range, else the selected slice, else everything."""
        if (chosen := self.selection.range) is not None:
            self.viewport.fit(chosen.begin, chosen.end)
        elif self.selection.slice >= 0:
            self.viewport.fit(*self.times_of(self.selection.slice))
        else:
            self.viewport.show_whole()

    def clear(self) -> bool:
        """Give up one thing: the range, else the selected slice, else the hits. Return whether there was one."""
        if self.selection.range is not None:
            self.selection.choose_range(None)
        elif self.selection.slice >= 0:
            self.selection.select(-1)
        elif self.hits.is_active:
            self.hits.clear()
        else:
            return False
        return True

    # Hits, marks and how it looks

    def set_hits(self, hits: NDArray[np.int64], names: NDArray[np.bool_] | None = None, current: int = -1) -> None:
        """Set the hits of a search. `names`: bool [names], which names match; None: derived from the hits."""
        if names is None and self.trace is not None and len(hits):
            names = np.zeros(len(self.trace.name_family), np.bool_)
            names[self.trace.name[hits]] = True
        self.hits.set(hits, names, current)

    def go_to_hit(self, number: int) -> None:
        """Reveal a hit; the number wraps around at both ends."""
        hits = self.hits
        if len(hits.slices):
            hits.current = number % len(hits.slices)
            self.reveal(int(hits.slices[hits.current]))
            hits.changed.emit()

    def set_marks(self, marks: Sequence[Mark]) -> None:
        self.marks = tuple(marks)
        self.marks_changed.emit()

    def times_of_mark(self, mark: Mark) -> tuple[int, int]:
        """Return begin and end in ns since the origin: a mark itself counts as the source does."""
        origin = self.trace.meta.origin_ns if self.trace else 0
        return mark.begin - origin, mark.end - origin

    def set_flow_kinds(self, kinds: frozenset[int]) -> None:
        self.flow_kinds = kinds
        self.appearance_changed.emit()

    def set_time_mode(self, mode: str) -> None:
        self.time_mode = mode
        self.appearance_changed.emit()
