"""Bands of the view from top to bottom: heads of processes, rows of slices, counters."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

BandKind = Literal["process", "rows", "counter"]
PROCESS, ROWS, COUNTER = 0, 1, 2
KINDS: tuple[BandKind, ...] = ("process", "rows", "counter")
PROCESS_HEIGHT, COUNTER_HEIGHT, FLAT_HEIGHT, LANE_GAP = 26, 44, 20, 5


@dataclass(frozen=True, kw_only=True)
class Band:
    """`track`: a lane, or for a counter the number of lanes plus its series; -1 for the head of a process. `rows`:
    painted on top of each other, the last one uppermost. `is_first`: the first band of its lane, which carries the
    name. `top`: px from the first band. `height` includes the gap below the last row of a lane, `drawn` does not."""

    kind: BandKind
    process: int
    track: int
    rows: tuple[int, ...]
    is_first: bool
    offset_ns: int
    top: int
    height: int
    drawn: int
    is_pinned: bool


@dataclass(frozen=True, kw_only=True)
class Bands:
    """Columns rather than values: a trace may have a million lanes. The first `pinned` bands never scroll.

    `kind`, `height`, `gap`: [bands]; `process`, `track`, `row` (-1: none), `offset`: [bands]; `top` [bands + 1].
    `over`: rows of the bands that show several.
    """

    kind: NDArray[np.int8]
    process: NDArray[np.int32]
    track: NDArray[np.int32]
    row: NDArray[np.int32]
    height: NDArray[np.int32]
    gap: NDArray[np.int32]
    offset: NDArray[np.int64]
    top: NDArray[np.int64]
    is_first: NDArray[np.bool_]
    pinned: int = 0
    over: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.kind)

    def __getitem__(self, index: int) -> Band:
        height, gap, row = int(self.height[index]), int(self.gap[index]), int(self.row[index])
        return Band(
            kind=KINDS[int(self.kind[index])],
            process=int(self.process[index]),
            track=int(self.track[index]),
            rows=self.over.get(index) or ((row,) if row >= 0 else ()),
            is_first=bool(self.is_first[index]),
            offset_ns=int(self.offset[index]),
            top=int(self.top[index]),
            height=height,
            drawn=height - gap,
            is_pinned=index < self.pinned,
        )

    @property
    def pinned_height(self) -> int:
        return int(self.top[self.pinned])

    @property
    def height_in_all(self) -> int:
        return int(self.top[-1])

    def between(self, top: int, bottom: int) -> range:
        """Return the bands that reach into [top, bottom), px from the first band."""
        first = int(np.searchsorted(self.top, top, "right")) - 1
        last = int(np.searchsorted(self.top, bottom, "left"))
        return range(max(0, first), min(len(self), last))

    def at(self, y: int) -> int:
        """Return the band at a height, -1 where there is none."""
        index = int(np.searchsorted(self.top, y, "right")) - 1
        return index if 0 <= index < len(self) and y >= 0 else -1

    def of_row(self, row: int) -> int:
        """Return the band that shows a row of the trace, -1: none."""
        return int(self._of_rows[row]) if 0 <= row < len(self._of_rows) else -1

    def of_rows(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return `of_row` of many rows."""
        exists = (rows >= 0) & (rows < len(self._of_rows))
        return np.where(exists, self._of_rows[np.where(exists, rows, 0)], -1) if len(self._of_rows) else rows * 0 - 1

    @cached_property
    def _of_rows(self) -> NDArray[np.int64]:
        highest = max((max(rows) for rows in self.over.values()), default=-1)
        bands_by_row = np.full(max(highest, int(self.row.max(initial=-1))) + 1, -1, np.int64)
        with_rows = np.flatnonzero(self.kind == ROWS)
        bands_by_row[self.row[with_rows]] = with_rows
        for index, rows in self.over.items():
            bands_by_row[list(rows)] = index
        return bands_by_row

    def extent(self, index: int) -> tuple[int, int]:
        """Return the range of bands, first and one after the last, of the lane that a band belongs to."""
        begins = self._begins
        number = int(np.searchsorted(begins, index, "right")) - 1
        return int(begins[number]), int(begins[number + 1]) if number + 1 < len(begins) else len(self)

    @cached_property
    def _begins(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.is_first)

    def of_track(self, track: int) -> int:
        """Return the first band of a lane or counter, -1: none, or only together with others."""
        matching = np.flatnonzero((self.track == track) & (self.kind != PROCESS))
        return int(matching[0]) if len(matching) else -1

    def of_head(self, processes: list[int]) -> int:
        """Return the band of the head of one of those processes, -1: none."""
        matching = np.flatnonzero(np.isin(self.process, processes) & (self.kind == PROCESS))
        return int(matching[0]) if len(matching) else -1


@dataclass(frozen=True, kw_only=True)
class BandGroup:
    """Bands of one kind before they are sorted. All arrays are equally long; `sort_keys`: [keys][bands]."""

    kind: int
    process: NDArray[np.int64]
    track: NDArray[np.int64]
    row: NDArray[np.int64]
    height: NDArray[np.int64]
    sort_keys: tuple[NDArray[np.float64], ...]
    offset: NDArray[np.int64]
    over: dict[int, tuple[int, ...]] = field(default_factory=dict)


def in_order(parts: list[BandGroup]) -> Bands:
    """Sort bands by their keys, and leave a gap after the last band of each track."""
    counts = [len(part.track) for part in parts]
    kind = np.repeat(np.array([part.kind for part in parts], np.int8), counts)
    begins = np.cumsum([0, *counts])
    order = np.lexsort([_joined([part.sort_keys[key] for part in parts]) for key in reversed(range(4))])
    track, process = _joined([part.track for part in parts])[order], _joined([part.process for part in parts])[order]
    height = _joined([part.height for part in parts])[order]
    pinned = int((_joined([part.sort_keys[0] for part in parts]) < 0).sum())
    new = np.ones(len(order) + 1, np.bool_)
    new[1:-1] = (track[1:] != track[:-1]) | (process[1:] != process[:-1])
    gap = np.where(new[1:], LANE_GAP, 1) * (kind[order] != PROCESS)
    gap = np.where(height > 8, gap, np.where(new[1:], np.minimum(gap, 2), 0))
    where = np.empty(len(order), np.int64)
    where[order] = np.arange(len(order))
    height = height + np.where(new[1:] & (gap > 1), gap, 0)
    return Bands(
        kind=kind[order],
        process=process.astype(np.int32),
        track=track.astype(np.int32),
        row=_joined([part.row for part in parts])[order].astype(np.int32),
        height=height.astype(np.int32),
        gap=gap.astype(np.int32),
        offset=_joined([part.offset for part in parts])[order].astype(np.int64),
        top=np.concatenate(([0], np.cumsum(height))).astype(np.int64),
        is_first=new[:-1],
        pinned=pinned,
        over={
            int(where[begin + index]): rows
            for part, begin in zip(parts, begins.tolist(), strict=False)
            for index, rows in part.over.items()
        },
    )


def _joined(arrays: list[NDArray[np.int64]] | list[NDArray[np.float64]]) -> NDArray[np.int64]:
    return np.concatenate(arrays) if arrays else np.empty(0, np.int64)
