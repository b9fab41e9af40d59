"""The part of the lanes that is in view: a range of time, the scroll position, and a history of both."""

from __future__ import annotations

import math

from PySide6.QtCore import QElapsedTimer, QObject, Signal

NARROWEST_NS = 10.0
MARGIN_SHARE = 0.02  # on either side of the trace, as a share of its length
SAME_MOVE_MS = 700  # zooming that continues within this time is one entry of the history
MAX_HISTORY = 200


class Viewport(QObject):
    """`begin`, `end`: the visible range, float ns since the origin. `scroll`: px. `is_whole`: all of the trace is
    visible. `trace_span`: length of the trace in ns; None while no trace is open."""

    range_changed = Signal()
    scroll_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.begin, self.end = 0.0, 1000.0
        self.is_whole = True
        self.scroll = 0
        self.trace_span: int | None = None
        self._history: list[tuple[float, float, int]] = []
        self._since_move = QElapsedTimer()

    @property
    def whole(self) -> tuple[float, float]:
        """The range of the whole trace, with a little room at both sides."""
        span = 1000.0 if self.trace_span is None else float(max(self.trace_span, NARROWEST_NS))
        return -span * MARGIN_SHARE, span * (1 + MARGIN_SHARE)

    @property
    def span(self) -> float:
        return self.end - self.begin

    @property
    def in_view(self) -> tuple[int, int]:
        """The visible part of the trace in whole ns, [begin, end), without the room around it."""
        last = 0 if self.trace_span is None else self.trace_span + 1
        begin = max(0, math.floor(self.begin))
        return begin, max(begin, min(last, math.ceil(self.end)))

    @property
    def can_zoom_back(self) -> bool:
        return bool(self._history)

    def reset(self) -> None:
        """Start from the top and the whole range, as for another profile. No signal is emitted."""
        self.scroll, self.is_whole = 0, True

    def set_trace_span(self, span: int, origin_moved_by: int) -> None:
        """Take the length of another trace, or of more of the same one, whose origin may have moved. A view of the
        whole trace stays one. No signal is emitted."""
        self.trace_span = span
        if by := origin_moved_by:
            self.begin, self.end = self.begin + by, self.end + by
            self._history = [(begin + by, end + by, scroll) for begin, end, scroll in self._history]
        if self.is_whole:
            self._history.clear()
            self.begin, self.end = self.whole

    def show(self, begin: float, end: float, *, is_move: bool = False) -> None:
        """Show a range as far as the trace reaches. `is_move`: one of many small moves, as of a wheel; the history
        keeps the view in which they began."""
        low, high = self.whole
        span = min(max(end - begin, NARROWEST_NS), high - low)
        middle = (begin + end) / 2
        begin = min(max(middle - span / 2, low), high - span)
        if (begin, begin + span) == (self.begin, self.end):
            return
        self._remember(is_move)
        self._set_range(begin, begin + span)

    def _remember(self, is_move: bool) -> None:
        continues = is_move and self._since_move.isValid() and self._since_move.elapsed() < SAME_MOVE_MS
        if not continues:
            self._history.append((self.begin, self.end, self.scroll))
            del self._history[:-MAX_HISTORY]
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
        """Zoom in (factor below 1) or out; the time `around` keeps its position."""
        span = max(self.span * factor, NARROWEST_NS)
        begin = around - (around - self.begin) * span / self.span
        self.show(begin, begin + span, is_move=True)

    def pan(self, by: float) -> None:
        low, high = self.whole
        by = min(max(by, low - self.begin), high - self.end)
        self.show(self.begin + by, self.end + by, is_move=True)

    def zoom_back(self) -> None:
        """Return to the view in which the last zoom or move began."""
        if self._history:
            begin, end, scroll = self._history.pop()
            self._since_move.invalidate()
            self._set_range(begin, end)
            self.scroll_to(scroll)

    def show_whole(self) -> None:
        self.show(*self.whole)

    def fit(self, begin: float, end: float) -> None:
        """Show a range with a little room at both sides."""
        room = max((end - begin) * 0.1, NARROWEST_NS / 2)
        self.show(begin - room, end + room)

    def bring_into_view(self, begin: float, end: float) -> None:
        """Move to a range, or zoom in where it would be narrower than a hundredth of the view."""
        if end - begin < self.span / 100:
            span = max((end - begin) * 20.0, NARROWEST_NS)
        elif begin < self.begin or end > self.end:
            span = max(self.span, (end - begin) * 1.2)
        else:
            return
        self.show((begin + end - span) / 2, (begin + end + span) / 2)

    def scroll_to(self, scroll: int) -> None:
        if scroll != self.scroll:
            self.scroll = max(0, scroll)
            self.scroll_changed.emit()
