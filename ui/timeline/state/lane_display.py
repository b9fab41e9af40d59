"""How the lanes are shown: which are pinned, hidden, folded, moved or drawn later, and the bands that result.

A track is a lane, or a counter, numbered after the lanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from ui.timeline.state.bands import Band, Bands, in_order
from ui.timeline.state.lane_arrangement import (
    MAX_ROW_HEIGHT,
    MIN_ROW_HEIGHT,
    PYTHON_MARK,
    ROW_HEIGHT,
    Arrangement,
    TrackKey,
)

if TYPE_CHECKING:
    from backends.timeline.trace import Series, Trace


class LaneDisplay(QObject):
    """`changed`: there are other bands now."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.arrangement = Arrangement()
        self.bands: Bands = in_order([])

    @property
    def trace(self) -> Trace | None:
        return self.arrangement.trace

    def reset(self) -> None:
        """Forget all choices but the row height, without a signal."""
        self.arrangement.forget()

    def set_trace(self, trace: Trace) -> None:
        """Show the lanes of another trace, or more lanes of the same one, without a signal."""
        self.arrangement.set_trace(trace)
        self.bands = self.arrangement.bands()

    def anchor_at(self, y: int) -> tuple[TrackKey, int] | None:
        """Return the lane or process at a height in px, and how far below its top that is; None where there is none."""
        number = self.bands.at(y)
        if number < 0:
            return None
        band = self.bands[self.bands.extent(number)[0]]
        is_head = band.kind == "process"
        key = self.arrangement.process_key(band.process) if is_head else self.arrangement.key(band.track)
        return key, y - band.top

    def height_of(self, anchor: tuple[TrackKey, int]) -> int | None:
        """Return where the anchor from `anchor_at` is now, in px; None where its lane is not shown."""
        key, below = anchor
        tracks = self.arrangement.numbers([key])
        bands = self.bands
        number = bands.of_track(tracks[0]) if tracks else bands.of_head(self.arrangement.process_numbers(key))
        return int(bands.top[number]) + below if number >= 0 else None

    # What a track is

    @property
    def has_tracks(self) -> bool:
        """Whether the trace has lanes or counters, visible or not."""
        return self.trace is not None and bool(self.trace.meta.lanes or self.trace.meta.series)

    @property
    def _tracks(self) -> range:
        return range(len(self.trace.meta.lanes) + len(self.trace.meta.series)) if self.trace else range(0)

    def series_of(self, track: int) -> Series | None:
        """Return the counter of a track; None where the track is a lane."""
        assert self.trace is not None
        lanes = len(self.trace.meta.lanes)
        return self.trace.meta.series[track - lanes] if track >= lanes else None

    def track_name(self, track: int) -> str:
        series = self.series_of(track)
        if series is not None:
            return series.name
        assert self.trace is not None
        lane = self.trace.meta.lanes[track]
        return lane.name or lane.tid.removesuffix(PYTHON_MARK)

    def is_python(self, track: int) -> bool:
        """Return whether a lane holds Python stacks only; the operators of the same thread are in another lane."""
        lanes = self.trace.meta.lanes if self.trace else ()
        return track < len(lanes) and lanes[track].tid.endswith(PYTHON_MARK)

    def is_merged(self, band: Band) -> bool:
        """Return whether a band shows several lanes on top of each other."""
        return len({int(self.trace.row_lane[row]) for row in band.rows}) > 1 if self.trace else False

    def is_pinned(self, track: int) -> bool:
        return self.arrangement.key(track) in self.arrangement.pinned

    def is_folded(self, track: int) -> bool:
        return self.arrangement.key(track) in self.arrangement.folded

    def is_collapsed(self, process: int) -> bool:
        return self.arrangement.process_key(process) in self.arrangement.collapsed

    def offset_of(self, track: int) -> int:
        """Return by how many ns the track is drawn later than it was recorded."""
        return self.arrangement.offsets.get(self.arrangement.key(track), 0)

    @property
    def hidden(self) -> list[int]:
        return self.arrangement.numbers(self.arrangement.hidden)

    # What is done to it

    def pin(self, track: int) -> None:
        """Keep a track at the top; a second call releases it."""
        key, pinned = self.arrangement.key(track), self.arrangement.pinned
        pinned.remove(key) if key in pinned else pinned.append(key)
        self._arrange()

    def pin_named(self, name: str) -> None:
        """Pin all lanes and counters of a name, of all processes and ranks."""
        keys = [self.arrangement.key(track) for track in self._tracks if self.track_name(track) == name]
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
        arrangement.hidden |= {
            arrangement.key(track) for track in self._tracks if arrangement.process_of(track) == process
        }
        self._arrange()

    def show_all(self) -> None:
        """Show again whatever was hidden, filtered out or collapsed."""
        self.arrangement.hidden.clear()
        self.arrangement.collapsed.clear()
        self.arrangement.filter_text = ""
        self.arrangement.has_python = True
        self._arrange()

    def show_lane(self, track: int) -> None:
        """Undo whatever keeps a lane from being visible."""
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
        """Show only the head of a process; a second call shows its lanes again."""
        self.arrangement.collapsed ^= {self.arrangement.process_key(process)}
        self._arrange()

    def collapse_all(self, on: bool) -> None:
        processes = range(len(self.trace.meta.processes)) if self.trace else ()
        self.arrangement.collapsed = {self.arrangement.process_key(process) for process in processes} if on else set()
        self._arrange()

    def fold(self, track: int) -> None:
        """Paint the rows of a lane on top of each other in one band; a second call separates them again."""
        self.arrangement.folded ^= {self.arrangement.key(track)}
        self._arrange()

    def filter(self, text: str) -> None:
        self.arrangement.filter_text = text.strip()
        self._arrange()

    def merge_streams(self, on: bool) -> None:
        """Paint all streams of a device on top of each other in one band."""
        self.arrangement.merges_streams = on
        self._arrange()

    def separate_python(self, on: bool) -> None:
        """Show Python stacks in lanes of their own, or leave them out."""
        self.arrangement.has_python = on
        self._arrange()

    def set_offset(self, track: int, ns: int) -> None:
        """Draw a track later by `ns`, earlier where negative."""
        key = self.arrangement.key(track)
        self.arrangement.offsets.pop(key, None)
        if ns:
            self.arrangement.offsets[key] = ns
        self._arrange()

    def clear_offsets(self) -> None:
        self.arrangement.offsets.clear()
        self._arrange()

    def move(self, track: int, by: int) -> None:
        """Move a track up (negative) or down among the tracks of its process; a pinned one among the pinned."""
        arrangement = self.arrangement
        key = arrangement.key(track)
        if key in arrangement.pinned:
            at = arrangement.pinned.index(key)
            arrangement.pinned.insert(max(0, at + by), arrangement.pinned.pop(at))
        else:
            self._move_among(arrangement.neighbours(track), track, by)
        self._arrange()

    def _move_among(self, tracks: list[int], track: int, by: int) -> None:
        keys = [self.arrangement.key(neighbour) for neighbour in tracks]
        ranks = sorted(
            self.arrangement.positions.get(key, float(neighbour)) for key, neighbour in zip(keys, tracks, strict=True)
        )
        at = tracks.index(track)
        keys.insert(min(max(at + by, 0), len(tracks) - 1), keys.pop(at))
        self.arrangement.positions.update(zip(keys, ranks, strict=True))

    def set_row_height(self, height: int) -> None:
        self.arrangement.row_height = min(max(height, MIN_ROW_HEIGHT), MAX_ROW_HEIGHT)
        self._arrange()

    def reset_row_height(self) -> None:
        self.set_row_height(ROW_HEIGHT)

    def _arrange(self) -> None:
        self.bands = self.arrangement.bands()
        self.changed.emit()
