"""The steps in view: one object that all charts share."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

NARROWEST = 2.0


class ViewRange(QObject):
    """`is_whole`: everything is shown, and what comes is shown too. Zooming or dragging ends that, `show_all` brings
    it back."""

    changed = Signal()
    hovered = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.begin, self.end = 0.0, 1.0
        self.is_whole = True
        self.hover: float | None = None
        self._whole = (0.0, 1.0)

    def set_whole(self, begin: float, end: float) -> None:
        """The steps there are."""
        self._whole = (begin, max(end, begin + 1.0))
        if self.is_whole:
            self._set(*self._whole)

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
        if steps:
            self.show(self.begin + steps, self.end + steps)

    def point_at(self, step: float | None) -> None:
        if step != self.hover:
            self.hover = step
            self.hovered.emit(step)

    def _set(self, begin: float, end: float) -> None:
        if (begin, end) != (self.begin, self.end):
            self.begin, self.end = begin, end
            self.changed.emit()
