"""What the view shows of a trace: one object that the canvas, the page and its panes share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QElapsedTimer, QObject, Signal

from ui.timeline.arrangement import HIGHEST, LOWEST, PYTHON, ROW_HEIGHT, Arrangement, Key
from ui.timeline.bands import Band, Bands, in_order
from ui.timeline.carried import same_kinds, same_slice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from backends.timeline.query.notes import Mark
    from backends.timeline.trace import Series, Step, Trace

NARROWEST_NS = 10.0
ROOM = 0.02  # beside the trace, as a share of it
ONE_MOVE_MS = 700  # zooming that goes on within this is one entry of the history
MOST_HISTORY = 200


@dataclass(frozen=True, kw_only=True)
class TimeRange:
    """[begin, end) in ns since the origin. `lane`: where it was drawn, -1: over all lanes."""

    begin: int
    end: int
    lane: int = -1


class ViewState(QObject):
    """`begin`, `end`: what is visible, float ns since the origin. `scroll`: px. `selected`, `baseline`: slices, -1:
    none. `hits`: slices found, sorted as they are shown, `hit`: which of them is looked at, -1: none. `hit_names`: the
    names that stay bright, None: all. `flow_kinds`: of which kinds all arrows are drawn. `time_mode`: "relative",
    "absolute" or "step". `slice_sought`: one was chosen and is to be brought into view; `slice_chosen` also tells that
    the selected one has another number in another trace. `hits_cleared`: nothing is searched for any more.
    `lanes_wanted`: somebody went to a place from outside the lanes, and goes on there with the keys."""

    trace_changed = Signal()
    range_changed = Signal()
    bands_changed = Signal()
    scroll_changed = Signal()
    slice_chosen = Signal(int)
    slice_sought = Signal(int)
    range_chosen = Signal(object)
    hits_changed = Signal()
    marks_changed = Signal()
    look_changed = Signal()
    hits_cleared = Signal()
    lanes_wanted = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.trace: Trace | None = None
        self.has_ranks = False  # several of them
        self.arrangement = Arrangement()
        self.bands: Bands = in_order([])
        self.begin, self.end = 0.0, 1000.0
        self.is_whole = True
        self.scroll = 0
        self.selected = self.baseline = -1
        self.selected_range: TimeRange | None = None
        self.hits: NDArray[np.int64] = np.empty(0, np.int64)
        self.hit = -1
        self.hit_names: NDArray[np.bool_] | None = None
        self.marks: tuple[Mark, ...] = ()
        self.flow_kinds: frozenset[int] = frozenset()
        self.time_mode = "relative"
        self._history: list[tuple[float, float, int]] = []
        self._since_move = QElapsedTimer()

    # The trace

    def set_trace(self, trace: Trace) -> None:
        """Another trace, or the same one of which more is read: what is shown stays in place where it was moved."""
        before = self.trace if self.trace is not None and self.trace.root == trace.root else None
        if before is None and self.trace is not None:
            self._forget()
        chosen = [(index, self._lane_key(index)) for index in (self.selected, self.baseline)]
        at_top = self._at_top()
        self.trace = trace
        self.has_ranks = len({process.rank for process in trace.meta.processes}) > 1
        self.arrangement.set_trace(trace)
        self.hits, self.hit, self.hit_names = np.empty(0, np.int64), -1, None
        if before is not None:
            self.selected, self.baseline = (self._now(before, index, key) for index, key in chosen)
            self.flow_kinds = same_kinds(before, self.flow_kinds, trace)
            self._shift(before.meta.origin_ns - trace.meta.origin_ns)
        if self.is_whole:
            self._history.clear()
            self.begin, self.end = self.whole
        self.bands = self.arrangement.bands()
        self._scroll_back(at_top)
        self.trace_changed.emit()
        self.bands_changed.emit()
        self.scroll_changed.emit()
        self.marks_changed.emit()
        self.range_changed.emit()
        self.slice_chosen.emit(self.selected)
        self.range_chosen.emit(self.selected_range)
        self.hits_changed.emit()

    def _forget(self) -> None:
        """What was chosen in one profile means nothing in another."""
        self.arrangement.forget()
        self.selected = self.baseline = -1
        self.selected_range, self.marks, self.flow_kinds, self.scroll = None, (), frozenset(), 0
        self.is_whole = True

    def _lane_key(self, index: int) -> Key | None:
        return self.arrangement.key(self.lane_of(index)) if index >= 0 else None

    def _now(self, before: Trace, index: int, key: Key | None) -> int:
        """The number that a slice of the trace before has in this one; -1 where it is not there."""
        assert self.trace is not None
        lanes = [] if key is None else self.arrangement.numbers([key])
        return same_slice(before, index, self.trace, lanes[0]) if lanes else -1

    def _at_top(self) -> tuple[Key, int] | None:
        """The lane below the pinned ones, and how far it is scrolled past them; None: nothing is scrolled."""
        number = self.bands.at(self.bands.pinned_height + self.scroll) if self.scroll else -1
        if number < 0:
            return None
        band = self.bands[self.bands.extent(number)[0]]
        is_head = band.kind == "process"
        key = self.arrangement.process_key(band.process) if is_head else self.arrangement.key(band.track)
        return key, self.scroll + self.bands.pinned_height - band.top

    def _scroll_back(self, at_top: tuple[Key, int] | None) -> None:
        """More lanes may be above it now."""
        number = -1 if at_top is None else self._band_of(at_top[0])
        if at_top is not None and number >= 0:
            self.scroll = max(0, int(self.bands.top[number]) + at_top[1] - self.bands.pinned_height)

    def _band_of(self, key: Key) -> int:
        tracks = self.arrangement.numbers([key])
        return self.bands.of_track(tracks[0]) if tracks else self.bands.of_head(self.arrangement.process_numbers(key))

    def _shift(self, by: int) -> None:
        """The origin moved."""
        self.begin, self.end = self.begin + by, self.end + by
        self._history = [(begin + by, end + by, scroll) for begin, end, scroll in self._history]
        if (one := self.selected_range) is not None:
            self.selected_range = TimeRange(begin=one.begin + by, end=one.end + by, lane=one.lane)

    @property
    def has_lanes(self) -> bool:
        """Or counters, shown or not."""
        return self.trace is not None and bool(self.trace.meta.lanes or self.trace.meta.series)

    @property
    def steps(self) -> tuple[Step, ...]:
        """Of the first rank that has some: those of several would lie over each other."""
        steps = self.trace.meta.steps if self.trace else ()
        first = min((one.rank for one in steps if one.rank is not None), default=None)
        return tuple(one for one in steps if one.rank == first)

    @property
    def whole(self) -> tuple[float, float]:
        """All there is, with a little room at both sides."""
        span = 1000.0 if self.trace is None else float(max(self.trace.span, NARROWEST_NS))
        return -span * ROOM, span * (1 + ROOM)

    # The visible range

    @property
    def span(self) -> float:
        return self.end - self.begin

    @property
    def in_view(self) -> tuple[int, int]:
        """What is visible of the trace in whole ns, [begin, end): without the room beside it."""
        last = 0 if self.trace is None else self.trace.span + 1
        begin = max(0, math.floor(self.begin))
        return begin, max(begin, min(last, math.ceil(self.end)))

    def show(self, begin: float, end: float, *, is_move: bool = False) -> None:
        """Shows a range as far as there is something. `is_move`: a small one of many, as of a wheel: the history keeps
        where they began."""
        low, high = self.whole
        span = min(max(end - begin, NARROWEST_NS), high - low)
        middle = (begin + end) / 2
        begin = min(max(middle - span / 2, low), high - span)
        if (begin, begin + span) == (self.begin, self.end):
            return
        self._remember(is_move)
        self._set_range(begin, begin + span)

    def _remember(self, is_move: bool) -> None:
        goes_on = is_move and self._since_move.isValid() and self._since_move.elapsed() < ONE_MOVE_MS
        if not goes_on:
            self._history.append((self.begin, self.end, self.scroll))
            del self._history[:-MOST_HISTORY]
        if is_move:
            self._since_move.start()
        else:
            self._since_move.invalidate()

    def _set_range(self, begin: float, end: float) -> None:
        self.begin, self.end = begin, end
        low, high = self.whole
        self.is_whole = begin <= low and end >= high
        self.range_changed.emit()

    def zoom(self, factor: float, around: float) -> None:
        """Closer (below 1) or wider; the time `around` stays where it is."""
        span = max(self.span * factor, NARROWEST_NS)
        begin = around - (around - self.begin) * span / self.span
        self.show(begin, begin + span, is_move=True)

    def pan(self, by: float) -> None:
        low, high = self.whole
        by = min(max(by, low - self.begin), high - self.end)
        self.show(self.begin + by, self.end + by, is_move=True)

    def zoom_back(self) -> None:
        """To where the last zoom or move began."""
        if self._history:
            begin, end, scroll = self._history.pop()
            self._since_move.invalidate()
            self._set_range(begin, end)
            self.scroll_to(scroll)

    @property
    def can_zoom_back(self) -> bool:
        return bool(self._history)

    def show_whole(self) -> None:
        self.show(*self.whole)

    def fit(self, begin: float, end: float) -> None:
        """A range with a little room at both sides."""
        room = max((end - begin) * 0.1, NARROWEST_NS / 2)
        self.show(begin - room, end + room)

    def fit_selection(self) -> None:
        """The range that was drawn, else the slice that is selected, else all."""
        if self.selected_range is not None:
            self.fit(self.selected_range.begin, self.selected_range.end)
        elif self.selected >= 0:
            self.fit(*self.times_of(self.selected))
        else:
            self.show_whole()

    def scroll_to(self, scroll: int) -> None:
        if scroll != self.scroll:
            self.scroll = max(0, scroll)
            self.scroll_changed.emit()

    # Selection

    def times_of(self, index: int) -> tuple[int, int]:
        """Start and end of a slice as it is drawn: with the offset of its lane."""
        assert self.trace is not None
        offset = self.offset_of(self.trace.lane_of(index))
        return int(self.trace.start[index]) + offset, int(self.trace.end[index]) + offset

    def select(self, index: int) -> None:
        if index != self.selected:
            self.selected = index
            self.slice_chosen.emit(index)
            self.slice_sought.emit(index)

    def reveal(self, index: int) -> None:
        """Selects a slice and brings it into view: its lane is shown again where it was hidden, and the range moves,
        or closes in where the slice would be narrower than a hundredth of the view."""
        self.show_lane(self.lane_of(index))
        begin, end = self.times_of(index)
        if end - begin < self.span / 100:
            span = max((end - begin) * 20.0, NARROWEST_NS)
            self.show((begin + end - span) / 2, (begin + end + span) / 2)
        elif begin < self.begin or end > self.end:
            span = max(self.span, (end - begin) * 1.2)
            self.show((begin + end - span) / 2, (begin + end + span) / 2)
        self.select(index)

    def lane_of(self, index: int) -> int:
        assert self.trace is not None
        return self.trace.lane_of(index)

    def choose_range(self, chosen: TimeRange | None) -> None:
        if chosen != self.selected_range:
            self.selected_range = chosen
            self.range_chosen.emit(chosen)

    def choose_drawn(self, begin: float, end: float) -> None:
        """What was drawn with the pointer, as far as it lies in the trace: what is beside it is no time at all."""
        last = self.trace.span if self.trace else 0
        first, behind = max(0, round(begin)), min(last, round(end))
        if first < last and behind > 0:
            self.choose_range(TimeRange(begin=first, end=max(behind, first + 1)))

    def set_baseline(self, index: int) -> None:
        self.baseline = index
        self.look_changed.emit()

    def set_hits(self, hits: NDArray[np.int64], names: NDArray[np.bool_] | None = None, current: int = -1) -> None:
        """`names`: which names were found, bool [names]; None where it is to be seen from the hits."""
        self.hits, self.hit, self.hit_names = hits, current, names
        if names is None and self.trace is not None and len(hits):
            self.hit_names = np.zeros(len(self.trace.name_family), np.bool_)
            self.hit_names[self.trace.name[hits]] = True
        self.hits_changed.emit()

    def go_to_hit(self, number: int) -> None:
        """The number wraps around at both ends."""
        if len(self.hits):
            self.hit = number % len(self.hits)
            self.reveal(int(self.hits[self.hit]))
            self.hits_changed.emit()

    def set_marks(self, marks: Sequence[Mark]) -> None:
        self.marks = tuple(marks)
        self.marks_changed.emit()

    def times_of_mark(self, mark: Mark) -> tuple[int, int]:
        """In ns since the origin: a mark counts as the source does."""
        origin = self.trace.meta.origin_ns if self.trace else 0
        return mark.begin - origin, mark.end - origin

    def set_flow_kinds(self, kinds: frozenset[int]) -> None:
        self.flow_kinds = kinds
        self.look_changed.emit()

    def set_time_mode(self, mode: str) -> None:
        self.time_mode = mode
        self.look_changed.emit()

    def clear(self) -> bool:
        """Lets go of one thing: the range, else the selected slice, else the hits. False where there was none."""
        if self.selected_range is not None:
            self.choose_range(None)
        elif self.selected >= 0:
            self.select(-1)
        elif len(self.hits) or self.hit_names is not None:
            self.set_hits(np.empty(0, np.int64))
            self.hits_cleared.emit()
        else:
            return False
        return True

    # Lanes: a track is a lane, or behind the lanes a counter

    def series_of(self, track: int) -> Series | None:
        """The counter of a track; None where it is a lane."""
        assert self.trace is not None
        lanes = len(self.trace.meta.lanes)
        return self.trace.meta.series[track - lanes] if track >= lanes else None

    def track_name(self, track: int) -> str:
        one = self.series_of(track)
        if one is not None:
            return one.name
        assert self.trace is not None
        lane = self.trace.meta.lanes[track]
        return lane.name or lane.tid.removesuffix(PYTHON)

    def is_python(self, track: int) -> bool:
        """Whether a lane holds Python stacks only; the operators of the same thread are in another one."""
        lanes = self.trace.meta.lanes if self.trace else ()
        return track < len(lanes) and lanes[track].tid.endswith(PYTHON)

    def is_merged(self, band: Band) -> bool:
        """Whether a band shows several lanes over each other."""
        return len({int(self.trace.row_lane[row]) for row in band.rows}) > 1 if self.trace else False

    def is_pinned(self, track: int) -> bool:
        return self.arrangement.key(track) in self.arrangement.pinned

    def is_folded(self, track: int) -> bool:
        return self.arrangement.key(track) in self.arrangement.folded

    def is_collapsed(self, process: int) -> bool:
        return self.arrangement.process_key(process) in self.arrangement.collapsed

    def offset_of(self, track: int) -> int:
        return self.arrangement.offsets.get(self.arrangement.key(track), 0)

    @property
    def hidden(self) -> list[int]:
        return self.arrangement.numbers(self.arrangement.hidden)

    def pin(self, track: int) -> None:
        """Keeps a lane at the top; a second time lets go of it."""
        key, pinned = self.arrangement.key(track), self.arrangement.pinned
        pinned.remove(key) if key in pinned else pinned.append(key)
        self._arrange()

    def pin_named(self, name: str) -> None:
        """All lanes and counters of a name, of all processes and ranks."""
        tracks = range(len(self.trace.meta.lanes) + len(self.trace.meta.series)) if self.trace else ()
        keys = [self.arrangement.key(track) for track in tracks if self.track_name(track) == name]
        self.arrangement.pinned += [key for key in keys if key not in self.arrangement.pinned]
        self._arrange()

    def unpin_all(self) -> None:
        self.arrangement.pinned.clear()
        self._arrange()

    def hide(self, track: int) -> None:
        self.arrangement.hidden.add(self.arrangement.key(track))
        self._arrange()

    def hide_process(self, process: int) -> None:
        arrangement = self.arrangement
        tracks = range(len(self.trace.meta.lanes) + len(self.trace.meta.series)) if self.trace else ()
        arrangement.hidden |= {arrangement.key(track) for track in tracks if arrangement.process_of(track) == process}
        self._arrange()

    def show_all(self) -> None:
        """Everything that was hidden, filtered or collapsed."""
        self.arrangement.hidden.clear()
        self.arrangement.collapsed.clear()
        self.arrangement.filter_text = ""
        self.arrangement.has_python = True
        self._arrange()

    def show_lane(self, track: int) -> None:
        """Undoes whatever keeps a lane from being shown."""
        arrangement = self.arrangement
        if self.trace is None or self.bands.of_track(track) >= 0:
            return
        arrangement.hidden.discard(arrangement.key(track))
        arrangement.collapsed.discard(arrangement.process_key(arrangement.process_of(track)))
        self._arrange()
        if self.bands.of_track(track) < 0 and not arrangement.merges_streams:
            arrangement.filter_text, arrangement.has_python = "", True
            self._arrange()

    def collapse(self, process: int) -> None:
        """Shows only the head of a process; a second time shows its lanes again."""
        self.arrangement.collapsed ^= {self.arrangement.process_key(process)}
        self._arrange()

    def collapse_all(self, on: bool) -> None:
        processes = range(len(self.trace.meta.processes)) if self.trace else ()
        self.arrangement.collapsed = {self.arrangement.process_key(one) for one in processes} if on else set()
        self._arrange()

    def fold(self, track: int) -> None:
        """Paints the rows of a lane over each other in one; a second time lays them below each other again."""
        self.arrangement.folded ^= {self.arrangement.key(track)}
        self._arrange()

    def filter(self, text: str) -> None:
        self.arrangement.filter_text = text.strip()
        self._arrange()

    def merge_streams(self, on: bool) -> None:
        """Paints all streams of a device over each other in one band."""
        self.arrangement.merges_streams = on
        self._arrange()

    def separate_python(self, on: bool) -> None:
        """On: Python stacks are shown, in lanes of their own. Off: they are left out."""
        self.arrangement.has_python = on
        self._arrange()

    def set_offset(self, track: int, ns: int) -> None:
        """Draws a lane later by so many ns (earlier where negative)."""
        key = self.arrangement.key(track)
        self.arrangement.offsets.pop(key, None)
        if ns:
            self.arrangement.offsets[key] = ns
        self._arrange()

    def clear_offsets(self) -> None:
        self.arrangement.offsets.clear()
        self._arrange()

    def move(self, track: int, by: int) -> None:
        """Up (negative) or down among the lanes of its process; a pinned one among the pinned."""
        arrangement = self.arrangement
        key = arrangement.key(track)
        if key in arrangement.pinned:
            at = arrangement.pinned.index(key)
            arrangement.pinned.insert(max(0, at + by), arrangement.pinned.pop(at))
        else:
            self._move_among(arrangement.neighbours(track), track, by)
        self._arrange()

    def _move_among(self, tracks: list[int], track: int, by: int) -> None:
        places = sorted(self.arrangement.places.get(self.arrangement.key(one), float(one)) for one in tracks)
        at = tracks.index(track)
        tracks.insert(min(max(at + by, 0), len(tracks) - 1), tracks.pop(at))
        for one, place in zip(tracks, places, strict=True):
            self.arrangement.places[self.arrangement.key(one)] = place

    def set_row_height(self, height: int) -> None:
        self.arrangement.row_height = min(max(height, LOWEST), HIGHEST)
        self._arrange()

    def reset_row_height(self) -> None:
        self.set_row_height(ROW_HEIGHT)

    def _arrange(self) -> None:
        self.bands = self.arrangement.bands()
        self.bands_changed.emit()
