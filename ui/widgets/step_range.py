"""The steps in view: one object that all charts share."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

NARROWEST = 2.0
AHEAD = 0.02
"""How far the picture of a growing run reaches beyond it, in parts of its width: points that come within it cost a
third of a picture that moves.
"""


class ViewRange(QObject):
    """`is_whole`: everything is shown, and what comes is shown too. Zooming or dragging ends that, `show_all` brings
    it back."""

    changed = Signal()
    hovered = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.begin, self.end = 0.0, 1.0
        self.is_whole = True
        self.is_growing = False
        self.hover: float | None = None
        self._whole = (0.0, 1.0)

    def set_whole(self, begin: float, end: float, is_growing: bool = False) -> None:
        """The steps there are, and whether more will come."""
        self._whole = (begin, max(end, begin + 1.0))
        self.is_growing = is_growing
        if self.is_whole:
            self._set(begin, self._end_ahead() if is_growing else self._whole[1])

    def _end_ahead(self) -> float:
        """Return where the picture ends: as it is while all steps and not much more are in it."""
        begin, end = self._whole
        ahead = AHEAD * (end - begin)
        return self.end if self.begin == begin and end <= self.end <= end + ahead else end + ahead

    def show(self, begin: float, end: float) -> None:
        if end - begin >= NARROWEST:
            self.is_whole = False
            self._set(begin, end)

    def show_all(self) -> None:
        self.is_whole = True
        self._set(*self._whole)

    def zoom(self, factor: float, around: float) -> None:
        """Closer (below 1) or wider, never wider than everything."""
        begin, end = around - (around - self.begin) * factor, around + (self.end - around) * factor
        low, high = self._whole
        if begin <= low and end >= high:
            self.show_all()
        else:
            self.show(max(begin, low), min(end, high))

    def move(self, steps: float) -> None:
        """Sideways, as far as there is something to see."""
        low, high = self._whole
        steps = min(max(steps, low - self.begin), high - self.end)
        if steps and not self.is_whole:
            self.show(self.begin + steps, self.end + steps)

    def point_at(self, step: float | None) -> None:
        if step != self.hover:
            self.hover = step
            self.hovered.emit(step)

    def _set(self, begin: float, end: float) -> None:
        if (begin, end) != (self.begin, self.end):
            self.begin, self.end = begin, end
            self.changed.emit()
