"""Which lanes are shown, in what order and how: kept by what a lane is called, so that it outlives reading anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ui.timeline.bands import COUNTER, COUNTER_HEIGHT, FLAT_HEIGHT, PROCESS, PROCESS_HEIGHT, ROWS, Bands, Part, in_order

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from backends.timeline.trace import Trace

Key = tuple[object, ...]
ROW_HEIGHT, LOWEST, HIGHEST = 20, 2, 40
PYTHON = "\0python"  # how the tid of a lane ends that holds Python stacks only


class Arrangement:
    """A track is a lane, or a counter: its number is then that of the series behind the lanes."""

    def __init__(self) -> None:
        self.trace: Trace | None = None
        self.row_height = ROW_HEIGHT
        self._keys: list[Key] = []
        self._number: dict[Key, int] = {}
        self.forget()

    def forget(self) -> None:
        """Everything as it comes; the height of rows is a matter of taste and stays."""
        self.filter_text = ""
        self.merges_streams = False
        self.has_python = True
        self.pinned: list[Key] = []
        self.hidden: set[Key] = set()
        self.folded: set[Key] = set()
        self.collapsed: set[Key] = set()
        self.offsets: dict[Key, int] = {}
        self.places: dict[Key, float] = {}

    def set_trace(self, trace: Trace) -> None:
        self.trace = trace
        self._keys = [*self._lane_keys(trace), *self._series_keys(trace)]
        self._number = {key: number for number, key in enumerate(self._keys)}
        lanes, series = trace.meta.lanes, trace.meta.series
        self._process = np.array([lane.process for lane in lanes] + [one.process for one in series], np.int64)
        self._first_row = np.array([lane.first_row for lane in lanes], np.int64)
        self._rows = np.array([lane.rows for lane in lanes], np.int64)
        self._is_device = np.array([lane.kind == "device" for lane in lanes], np.bool_)
        self._is_flat = np.array([one.low == one.high == 0 for one in series], np.bool_)
        self._is_python = np.array([lane.tid.endswith(PYTHON) for lane in lanes] + [False] * len(series), np.bool_)

    @staticmethod
    def _lane_keys(trace: Trace) -> list[Key]:
        processes = trace.meta.processes
        return [(processes[lane.process].source, processes[lane.process].pid, lane.tid) for lane in trace.meta.lanes]

    @staticmethod
    def _series_keys(trace: Trace) -> list[Key]:
        processes = trace.meta.processes
        return [
            (processes[one.process].source, processes[one.process].pid, "counter", one.name)
            for one in trace.meta.series
        ]

    def key(self, track: int) -> Key:
        return self._keys[track]

    def process_key(self, process: int) -> Key:
        assert self.trace is not None
        one = self.trace.meta.processes[process]
        return (one.source, one.pid)

    def process_numbers(self, key: Key) -> list[int]:
        """The processes that have this key: one or none."""
        assert self.trace is not None
        return [number for number in range(len(self.trace.meta.processes)) if self.process_key(number) == key]

    def process_of(self, track: int) -> int:
        return int(self._process[track])

    def numbers(self, keys: Iterable[Key]) -> list[int]:
        """The tracks of those keys that this trace has."""
        return [self._number[key] for key in keys if key in self._number]

    def neighbours(self, track: int) -> list[int]:
        """The tracks among which a track can be moved, in the order in which they are shown."""
        same_kind = (np.arange(len(self._keys)) < self.lanes) == (track < self.lanes)
        tracks = np.flatnonzero((self._process == self._process[track]) & same_kind & self._shown())
        return tracks[np.argsort(self._places()[tracks], kind="stable")].tolist()

    @property
    def lanes(self) -> int:
        return len(self._first_row)

    def _places(self) -> NDArray[np.float64]:
        places = np.arange(len(self._keys), dtype=np.float64)
        for key, place in self.places.items():
            if key in self._number:
                places[self._number[key]] = place
        return places

    def _shown(self) -> NDArray[np.bool_]:
        shown = np.ones(len(self._keys), np.bool_)
        shown[self.numbers(self.hidden)] = False
        if not self.has_python:
            shown &= ~self._is_python
        if self.filter_text:
            shown &= self._matches()
        return shown

    def _matches(self) -> NDArray[np.bool_]:
        """Lanes by their own name, or all of a process by its name."""
        assert self.trace is not None
        meta, wanted = self.trace.meta, self.filter_text.casefold()
        in_process = [wanted in f"{one.name} {one.label} {one.pid}".casefold() for one in meta.processes]
        names = [f"{lane.name} {lane.tid}" for lane in meta.lanes] + [one.name for one in meta.series]
        return np.array(
            [in_process[int(p)] or wanted in name.casefold() for p, name in zip(self._process, names, strict=True)],
            np.bool_,
        )

    def bands(self) -> Bands:
        if self.trace is None:
            return in_order([])
        shown, places, lanes = self._shown(), self._places(), self.lanes
        pinned = self.numbers(self.pinned)
        is_pinned = np.zeros(len(shown), np.bool_)
        is_pinned[pinned] = True
        section = self._process.astype(np.float64)
        section[is_pinned] = -1
        places[pinned] = np.arange(len(pinned))
        folded_away = [p for p in range(len(self.trace.meta.processes)) if self.process_key(p) in self.collapsed]
        open_ = shown & (is_pinned | ~np.isin(self._process, folded_away))
        heads = self._heads(np.unique(self._process[shown & ~is_pinned]))
        parts = [heads, *self._lane_parts(np.flatnonzero(open_[:lanes]), section, places)]
        return in_order([*parts, self._counter_part(np.flatnonzero(open_[lanes:]) + lanes, section, places)])

    def _heads(self, processes: NDArray[np.int64]) -> Part:
        none, zero = np.full(len(processes), -1), np.zeros(len(processes))
        height = np.full(len(processes), PROCESS_HEIGHT)
        place = (processes.astype(np.float64), zero, zero, zero)
        return Part(
            kind=PROCESS, process=processes, track=none, row=none, height=height, place=place,
            offset=np.zeros(len(processes), np.int64),
        )  # fmt: skip

    def _lane_parts(
        self, lanes: NDArray[np.int64], section: NDArray[np.float64], places: NDArray[np.float64]
    ) -> list[Part]:
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

    def _rows_part(self, lanes: NDArray[np.int64], section: NDArray[np.float64], places: NDArray[np.float64]) -> Part:
        rows = self._rows[lanes]
        track = np.repeat(lanes, rows)
        depth = np.arange(len(track)) - np.repeat(np.cumsum(rows) - rows, rows)
        return Part(
            kind=ROWS, process=self._process[track], track=track, row=self._first_row[track] + depth,
            height=np.full(len(track), self.row_height),
            place=(section[track], np.full(len(track), 2.0), places[track], depth.astype(np.float64)),
            offset=self._offset_of(track),
        )  # fmt: skip

    def _over_part(self, lanes: NDArray[np.int64], section: NDArray[np.float64], places: NDArray[np.float64]) -> Part:
        """Several lanes, or the rows of one, in one band: the deepest on top, as that says most."""
        rows = [
            int(self._first_row[lane]) + depth
            for depth in range(int(self._rows[lanes].max()))
            for lane in lanes.tolist()
            if depth < self._rows[lane]
        ]
        track = lanes[:1]
        zero = np.zeros(1)
        return Part(
            kind=ROWS, process=self._process[track], track=track, row=np.array(rows[:1]),
            height=np.array([self.row_height]), place=(section[track], zero + 2, places[track], zero),
            offset=self._offset_of(track), over={0: tuple(rows)},
        )  # fmt: skip

    def _counter_part(
        self, tracks: NDArray[np.int64], section: NDArray[np.float64], places: NDArray[np.float64]
    ) -> Part:
        """One that is 0 all the time is as low as a name needs: a collection may have dozens of them."""
        one = np.ones(len(tracks))
        height = np.where(self._is_flat[tracks - self.lanes], FLAT_HEIGHT, COUNTER_HEIGHT)
        return Part(
            kind=COUNTER, process=self._process[tracks], track=tracks, row=np.full(len(tracks), -1), height=height,
            place=(section[tracks], one, places[tracks], one), offset=self._offset_of(tracks),
        )  # fmt: skip

    def _offset_of(self, tracks: NDArray[np.int64]) -> NDArray[np.int64]:
        offsets = np.zeros(len(self._keys), np.int64)
        for key, offset in self.offsets.items():
            if key in self._number:
                offsets[self._number[key]] = offset
        return offsets[tracks]
