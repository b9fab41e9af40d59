"""What is selected: a slice, the baseline it is compared with, and a range of time."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal


@dataclass(frozen=True, kw_only=True)
class TimeRange:
    """[begin, end) in ns since the origin. `lane`: where it was drawn, -1: over all lanes."""

    begin: int
    end: int
    lane: int = -1


class Selection(QObject):
    """`slice`, `baseline`: indexes of slices, -1: none. `slice_chosen`: another slice is selected, or the selected one
    has another index in another trace; `slice_sought`: it is also to be scrolled into view."""

    slice_chosen = Signal(int)
    slice_sought = Signal(int)
    range_chosen = Signal(object)
    baseline_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.slice = self.baseline = -1
        self.range: TimeRange | None = None

    def reset(self) -> None:
        """Select nothing, without a signal."""
        self.slice = self.baseline = -1
        self.range = None

    def shift_range(self, by: int) -> None:
        """Follow an origin that moved, without a signal."""
        if (chosen := self.range) is not None:
            self.range = TimeRange(begin=chosen.begin + by, end=chosen.end + by, lane=chosen.lane)

    def select(self, index: int) -> None:
        if index != self.slice:
            self.slice = index
            self.slice_chosen.emit(index)
            self.slice_sought.emit(index)

    def choose_range(self, chosen: TimeRange | None) -> None:
        if chosen != self.range:
            self.range = chosen
            self.range_chosen.emit(chosen)

    def set_baseline(self, index: int) -> None:
        self.baseline = index
        self.baseline_changed.emit()
