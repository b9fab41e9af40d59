"""Which lanes are shown, in what order and how. Choices are stored by the keys of lanes, so that they survive reading
the profile again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ui.timeline.state.bands import (
    COUNTER,
    COUNTER_HEIGHT,
    FLAT_HEIGHT,
    PROCESS,
    PROCESS_HEIGHT,
    ROWS,
    BandGroup,
    Bands,
    in_order,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from backends.timeline.trace import Trace

TrackKey = tuple[object, ...]
ROW_HEIGHT, MIN_ROW_HEIGHT, MAX_ROW_HEIGHT = 20, 2, 40
PYTHON_MARK = "\0python"  # how the tid of a lane ends that holds Python stacks only


class Arrangement:
    """Arrangement of tracks. A track is a lane, or a counter, numbered after the lanes."""

    def __init__(self) -> None:
        self.trace: Trace | None = None
        self.row_height = ROW_HEIGHT
        self._keys: list[TrackKey] = []
        self._number: dict[TrackKey, int] = {}
        self.forget()

    def forget(self) -> None:
        """Restore the defaults, but for the row height, which is a matter of taste."""
        self.filter_text = ""
        self.merges_streams = False
        self.has_python = True
        self.pinned: list[TrackKey] = []
        self.hidden: set[TrackKey] = set()
        self.folded: set[TrackKey] = set()
        self.collapsed: set[TrackKey] = set()
        self.offsets: dict[TrackKey, int] = {}
        self.positions: dict[TrackKey, float] = {}

    def set_trace(self, trace: Trace) -> None:
        self.trace = trace
        self._keys = [*self._lane_keys(trace), *self._series_keys(trace)]
        self._number = {key: number for number, key in enumerate(self._keys)}
        lanes, series = trace.meta.lanes, trace.meta.series
        self._process = np.array([lane.process for lane in lanes] + [counter.process for counter in series], np.int64)
        self._first_row = np.array([lane.first_row for lane in lanes], np.int64)
        self._rows = np.array([lane.rows for lane in lanes], np.int64)
        self._is_device = np.array([lane.kind == "device" for lane in lanes], np.bool_)
        self._is_flat = np.array([counter.low == counter.high == 0 for counter in series], np.bool_)
        self._is_python = np.array([lane.tid.endswith(PYTHON_MARK) for lane in lanes] + [False] * len(series), np.bool_)

    @staticmethod
    def _lane_keys(trace: Trace) -> list[TrackKey]:
        processes = trace.meta.processes
        return [(processes[lane.process].source, processes[lane.process].pid, lane.tid) for lane in trace.meta.lanes]

    @staticmethod
    def _series_keys(trace: Trace) -> list[TrackKey]:
        processes = trace.meta.processes
        return [
            (processes[counter.process].source, processes[counter.process].pid, "counter", counter.name)
            for counter in trace.meta.series
        ]

    def key(self, track: int) -> TrackKey:
        return self._keys[track]

    def process_key(self, process: int) -> TrackKey:
        assert self.trace is not None
        described = self.trace.meta.processes[process]
        return (described.source, described.pid)

    def process_numbers(self, key: TrackKey) -> list[int]:
        """Return the processes that have this key: one or none."""
        assert self.trace is not None
        return [number for number in range(len(self.trace.meta.processes)) if self.process_key(number) == key]

    def process_of(self, track: int) -> int:
        return int(self._process[track])

    def numbers(self, keys: Iterable[TrackKey]) -> list[int]:
        """Return the tracks of those keys that this trace has."""
        return [self._number[key] for key in keys if key in self._number]

    def neighbours(self, track: int) -> list[int]:
        """Return the tracks among which a track can be moved, in display order."""
        same_kind = (np.arange(len(self._keys)) < self.lanes) == (track < self.lanes)
        tracks = np.flatnonzero((self._process == self._process[track]) & same_kind & self._visible())
        ordered: list[int] = tracks[np.argsort(self._positions()[tracks], kind="stable")].tolist()
        return ordered

    @property
    def lanes(self) -> int:
        return len(self._first_row)

    def _positions(self) -> NDArray[np.float64]:
        places = np.arange(len(self._keys), dtype=np.float64)
        for key, position in self.positions.items():
            if key in self._number:
                places[self._number[key]] = position
        return places

    def _visible(self) -> NDArray[np.bool_]:
        is_visible = np.ones(len(self._keys), np.bool_)
        is_visible[self.numbers(self.hidden)] = False
        if not self.has_python:
            is_visible &= ~self._is_python
        if self.filter_text:
            is_visible &= self._matches()
        return is_visible

    def _matches(self) -> NDArray[np.bool_]:
        """Return lanes that match by their own name, or by that of their process."""
        assert self.trace is not None
        meta, text = self.trace.meta, self.filter_text.casefold()
        in_process = [
            text in f"{described.name} {described.label} {described.pid}".casefold() for described in meta.processes
        ]
        names = [f"{lane.name} {lane.tid}" for lane in meta.lanes] + [counter.name for counter in meta.series]
        return np.array(
            [in_process[int(p)] or text in name.casefold() for p, name in zip(self._process, names, strict=True)],
            np.bool_,
        )

    def bands(self) -> Bands:
        if self.trace is None:
            return in_order([])
        is_visible, places, lanes = self._visible(), self._positions(), self.lanes
        pinned = self.numbers(self.pinned)
        is_pinned = np.zeros(len(is_visible), np.bool_)
        is_pinned[pinned] = True
        section = self._process.astype(np.float64)
        section[is_pinned] = -1
        places[pinned] = np.arange(len(pinned))
        folded_away = [p for p in range(len(self.trace.meta.processes)) if self.process_key(p) in self.collapsed]
        open_ = is_visible & (is_pinned | ~np.isin(self._process, folded_away))
        heads = self._heads(np.unique(self._process[is_visible & ~is_pinned]))
        parts = [heads, *self._lane_parts(np.flatnonzero(open_[:lanes]), section, places)]
        return in_order([*parts, self._counter_part(np.flatnonzero(open_[lanes:]) + lanes, section, places)])

    def _heads(self, processes: NDArray[np.int64]) -> BandGroup:
        none, zero = np.full(len(processes), -1), np.zeros(len(processes))
        height = np.full(len(processes), PROCESS_HEIGHT)
        sort_keys = (processes.astype(np.float64), zero, zero, zero)
        return BandGroup(
            kind=PROCESS, process=processes, track=none, row=none, height=height, sort_keys=sort_keys,
            offset=np.zeros(len(processes), np.int64),
        )  # fmt: skip

    def _lane_parts(
        self, lanes: NDArray[np.int64], section: NDArray[np.float64], places: NDArray[np.float64]
    ) -> list[BandGroup]:
        merged = np.zeros(len(lanes), np.bool_)
        if self.merges_streams:
            merged = self._is_device[lanes] & (section[lanes] >= 0)
        folded = np.isin(lanes, self.numbers(self.folded)) & (self._rows[lanes] > 1) & ~merged
        groups = [lanes[merged & (self._process[lanes] == p)] for p in np.unique(self._process[lanes[merged]])]
        single = [np.array([lane]) for lane in lanes[folded]]
        return [
            self._rows_part(lanes[~merged & ~folded], section, places),
            *(self._over_part(group, section, places) for group in [*groups, *single]),
        ]

    def _rows_part(
        self, lanes: NDArray[np.int64], section: NDArray[np.float64], places: NDArray[np.float64]
    ) -> BandGroup:
        rows = self._rows[lanes]
        track = np.repeat(lanes, rows)
        depth = np.arange(len(track)) - np.repeat(np.cumsum(rows) - rows, rows)
        return BandGroup(
            kind=ROWS, process=self._process[track], track=track, row=self._first_row[track] + depth,
            height=np.full(len(track), self.row_height),
            sort_keys=(section[track], np.full(len(track), 2.0), places[track], depth.astype(np.float64)),
            offset=self._offset_of(track),
        )  # fmt: skip

    def _over_part(
        self, lanes: NDArray[np.int64], section: NDArray[np.float64], places: NDArray[np.float64]
    ) -> BandGroup:
        """Return one band for several lanes, or for the rows of one: the deepest row is on top, since it is the most
        specific."""
        rows = [
            int(self._first_row[lane]) + depth
            for depth in range(int(self._rows[lanes].max()))
            for lane in lanes.tolist()
            if depth < self._rows[lane]
        ]
        track = lanes[:1]
        zero = np.zeros(1)
        return BandGroup(
            kind=ROWS, process=self._process[track], track=track, row=np.array(rows[:1]),
            height=np.array([self.row_height]), sort_keys=(section[track], zero + 2, places[track], zero),
            offset=self._offset_of(track), over={0: tuple(rows)},
        )  # fmt: skip

    def _counter_part(
        self, tracks: NDArray[np.int64], section: NDArray[np.float64], places: NDArray[np.float64]
    ) -> BandGroup:
        """Return the bands of counters. A counter that is always 0 is only as tall as its name: a profile may have
        dozens of them."""
        ones = np.ones(len(tracks))
        height = np.where(self._is_flat[tracks - self.lanes], FLAT_HEIGHT, COUNTER_HEIGHT)
        return BandGroup(
            kind=COUNTER, process=self._process[tracks], track=tracks, row=np.full(len(tracks), -1), height=height,
            sort_keys=(section[tracks], ones, places[tracks], ones), offset=self._offset_of(tracks),
        )  # fmt: skip

    def _offset_of(self, tracks: NDArray[np.int64]) -> NDArray[np.int64]:
        offsets = np.zeros(len(self._keys), np.int64)
        for key, offset in self.offsets.items():
            if key in self._number:
                offsets[self._number[key]] = offset
        return offsets[tracks]
