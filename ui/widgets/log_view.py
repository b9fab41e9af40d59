"""The log of a run: only the lines in view are painted, so that a flood costs no more than a trickle."""

from __future__ import annotations

import time
from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFontMetrics, QKeySequence, QPainter
from PySide6.QtWidgets import QAbstractScrollArea, QApplication

from studio.texts import t
from ui.widgets import theme
from ui.widgets.log_lines import (
    ERROR,
    PLAIN,
    WARNING,
    LogLines,
    line_text,
)

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPaintEvent, QResizeEvent, QWheelEvent

LIVE = 100
IDLE = 1000
BUDGET_NS = 8_000_000
GUTTER = 14
SCAN = 2000
MAX_MATCHES = 100_000


class LogView(QAbstractScrollArea):
    """Follows the end until the user scrolls up; then stays where it is while lines are added."""

    counted = Signal(int, int)
    """The state of the search: which match is current (from 1, 0 for none) and how many there are."""
    following_changed = Signal(bool)
    grown = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("log_view")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        # It paints all of itself: nothing behind it needs to be painted with each line.
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.lines: LogLines | None = None
        self.is_following = True
        self._min_level = PLAIN
        self._passing = array("q")
        self._passed_to = 0
        self._needle = b""
        self._matches = array("q")
        self._searched_to = 0
        self._match = -1
        self._selected: tuple[int, int] | None = None
        self._widest = 0
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._read_on)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self.verticalScrollBar().actionTriggered.connect(lambda _: self._follow_if_at_end())
        theme.notifier().changed.connect(self.viewport().update)
        self._measure()

    def _measure(self) -> None:
        self.setFont(theme.mono_font(12))
        self.viewport().setFont(self.font())
        metrics = QFontMetrics(self.font())
        self._row = metrics.height() + 2
        self._ascent = metrics.ascent() + 1

    def show_file(self, path: Path | None) -> None:
        """Shows this file from its end on; None shows nothing."""
        self.lines = LogLines(path) if path else None
        self._selected, self._widest = None, 0
        self.is_following = True
        self._again()
        self._timer.stop()
        if path:
            self._timer.start(0)
        self._settle()

    def show_levels(self, min_level: int) -> None:
        """Only lines of this level and worse: PLAIN, WARNING or ERROR."""
        if min_level != self._min_level:
            self._min_level = min_level
            self._selected = None
            self._again()
            self._work_on()

    def search(self, text: str) -> None:
        """Search for a text, ignoring case; `counted` reports the progress."""
        self._needle = text.encode().lower()
        self._matches, self._match = array("q"), -1
        self._searched_to = self.lines.first if self.lines else 0
        self.counted.emit(0, 0)
        self._work_on()

    def next_match(self, step: int = 1) -> None:
        """The next (1) or previous (-1) match from the current one, round the end."""
        if not self._matches:
            return
        if self._match < 0:
            at = bisect_left(self._matches, self._number(self.verticalScrollBar().value()))
            self._match = (at if step > 0 else at - 1) % len(self._matches)
        else:
            self._match = (self._match + step) % len(self._matches)
        self._go_to(self._matches[self._match])
        self.counted.emit(self._match + 1, len(self._matches))

    def follow(self) -> None:
        """Scroll to the end, and follow it from then on."""
        self._set_following(True)
        self._settle()

    def count(self) -> int:
        """Lines that can be scrolled to."""
        if self.lines is None:
            return 0
        return len(self._passing) if self._min_level else len(self.lines) - self.lines.first

    def _again(self) -> None:
        self._passing, self._matches, self._match = array("q"), array("q"), -1
        self._passed_to = self._searched_to = self.lines.first if self.lines else 0

    def _work_on(self) -> None:
        if self._timer.isActive():
            self._timer.setInterval(0)
        self._settle()

    def _read_on(self) -> None:
        """Reads, filters and searches on, 8 ms at a time."""
        lines = self.lines
        if lines is None:
            return
        end = time.monotonic_ns() + BUDGET_NS
        before = lines.first
        grown = bool(lines.read())
        while lines.pending() and time.monotonic_ns() < end:
            lines.read()
        if lines.first != before:
            self._forget(lines.first, lines.first - before)
        busy = self._filter(end) | self._search(end)
        if grown:
            self.grown.emit()
        if grown or busy:
            self._settle()
        self._timer.setInterval(2 if lines.pending() or busy else LIVE if self.isVisible() else IDLE)

    def _forget(self, first: int, dropped: int) -> None:
        """The oldest lines were dropped: the visible ones stay where they are."""
        for numbers in (self._passing, self._matches):
            del numbers[: bisect_left(numbers, first)]
        self._match = -1
        if not self.is_following and not self._min_level:
            bar = self.verticalScrollBar()
            bar.setValue(max(0, bar.value() - dropped))

    def _filter(self, end: int) -> bool:
        """Choose further lines; True while there are more to examine."""
        lines = self.lines
        if lines is None or not self._min_level:
            return False
        self._passed_to = max(self._passed_to, lines.first)
        whole = lines.whole()
        while self._passed_to < whole:
            stop = min(whole, self._passed_to + SCAN)
            self._passing.extend(n for n in range(self._passed_to, stop) if lines.level(n) >= self._min_level)
            self._passed_to = stop
            if time.monotonic_ns() > end:
                return True
        return False

    def _search(self, end: int) -> bool:
        lines = self.lines
        if lines is None or not self._needle:
            return False
        self._searched_to = max(self._searched_to, lines.first)
        begin, before = self._searched_to, len(self._matches)
        whole = lines.whole()
        while self._searched_to < whole and len(self._matches) < MAX_MATCHES and time.monotonic_ns() <= end:
            stop = min(whole, self._searched_to + SCAN)
            self._matches.extend(n for n in range(self._searched_to, stop) if self._fits(lines, n))
            self._searched_to = stop
        if len(self._matches) != before or begin == lines.first:
            self.counted.emit(self._match + 1, len(self._matches))
        return self._searched_to < whole and len(self._matches) < MAX_MATCHES

    def _fits(self, lines: LogLines, number: int) -> bool:
        line = lines.line(number)
        if lines.level(number) < self._min_level:
            return False
        if b"\x1b" in line or b"\r" in line:
            line = line_text(line).encode()
        return self._needle in line.lower()

    def _settle(self) -> None:
        """The scroll bars fit what there is."""
        bar = self.verticalScrollBar()
        page = max(1, self.viewport().height() // self._row)
        bar.setPageStep(page)
        bar.setRange(0, max(0, self.count() - page))
        if self.is_following:
            bar.setValue(bar.maximum())
        across = self.horizontalScrollBar()
        across.setPageStep(self.viewport().width())
        across.setRange(0, max(0, self._widest + GUTTER + 8 - self.viewport().width()))
        self.viewport().update()

    def _scrolled(self, value: int) -> None:
        if not self.is_following and value >= self.verticalScrollBar().maximum():
            self._set_following(True)

    def _follow_if_at_end(self) -> None:
        bar = self.verticalScrollBar()
        self._set_following(bar.sliderPosition() >= bar.maximum())

    def _set_following(self, following: bool) -> None:
        if following != self.is_following:
            self.is_following = following
            self.following_changed.emit(following)

    def _number(self, row: int) -> int:
        """The line's number of a row, counted from the top of all rows."""
        if self.lines is None:
            return 0
        if self._min_level:
            return self._passing[min(row, len(self._passing) - 1)] if self._passing else len(self.lines)
        return self.lines.first + row

    def _go_to(self, number: int) -> None:
        row = (
            bisect_left(self._passing, number) if self._min_level else number - (self.lines.first if self.lines else 0)
        )
        bar = self.verticalScrollBar()
        if not bar.value() <= row < bar.value() + bar.pageStep():
            bar.setValue(row - bar.pageStep() // 2)
        self._set_following(bar.value() >= bar.maximum())
        self._selected = (number, number)
        self.viewport().update()

    def visible_text(self) -> list[str]:
        """The range of lines in view."""
        return [line_text(self.lines.line(number)) for number in self._in_view()] if self.lines else []

    def _in_view(self) -> list[int]:
        first = self.verticalScrollBar().value()
        rows = range(first, min(self.count(), first + self.viewport().height() // self._row + 1))
        return [self._number(row) for row in rows]

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), theme.color("surface"))
        if self.lines is None:
            return
        painter.setFont(self.font())
        widest = self._widest
        for row, number in enumerate(self._in_view()):
            text = line_text(self.lines.line(number))
            self._paint_line(painter, row * self._row, number, text)
            widest = max(widest, QFontMetrics(self.font()).horizontalAdvance(text[:4000]))
        if widest != self._widest:
            self._widest = widest
            QTimer.singleShot(0, self._settle)

    def _paint_line(self, painter: QPainter, y: int, number: int, text: str) -> None:
        level = self.lines.level(number) if self.lines else PLAIN
        x = GUTTER - self.horizontalScrollBar().value()
        if self._selected and self._selected[0] <= number <= self._selected[1]:
            painter.fillRect(QRect(0, y, self.viewport().width(), self._row), theme.color("selected"))
        if self._needle:
            self._paint_matches(painter, x, y, text)
        token = {PLAIN: "text", WARNING: "warning", ERROR: "bad"}[level]
        if level:
            self._paint_level(painter, y, level, theme.color(token))
        painter.setPen(theme.color(token))
        painter.drawText(x, y + self._ascent, text[:4000])

    def _paint_level(self, painter: QPainter, y: int, level: int, color: QColor) -> None:
        """A shape in the gutter, so that colour is not all: a thin bar for warnings, a thick one for errors."""
        painter.fillRect(QRect(3, y + 1, 6 if level == ERROR else 2, self._row - 2), color)

    def _paint_matches(self, painter: QPainter, x: int, y: int, text: str) -> None:
        needle, low = self._needle.decode(), text.lower()
        metrics = QFontMetrics(self.font())
        at = low.find(needle)
        while at >= 0:
            left = x + metrics.horizontalAdvance(text[:at])
            width = metrics.horizontalAdvance(text[at : at + len(needle)])
            painter.fillRect(QRect(left, y, width, self._row), theme.color("warning_soft"))
            at = low.find(needle, at + len(needle))

    def selected_text(self) -> str:
        if self._selected is None or self.lines is None:
            return ""
        begin, end = max(self._selected[0], self.lines.first), min(self._selected[1], len(self.lines) - 1)
        numbers = range(begin, end + 1)
        chosen = [n for n in numbers if self.lines.level(n) >= self._min_level]
        return "\n".join(line_text(self.lines.line(n)) for n in chosen)

    def copy(self) -> None:
        if text := self.selected_text():
            QApplication.clipboard().setText(text)

    def _at(self, y: float) -> int:
        row = self.verticalScrollBar().value() + int(y) // self._row
        return self._number(max(0, min(row, self.count() - 1)))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.count():
            self._anchor = self._at(event.position().y())
            self._selected = (self._anchor, self._anchor)
            self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._selected and event.buttons() & Qt.MouseButton.LeftButton and self.count():
            row = self._at(event.position().y())
            self._selected = (min(self._anchor, row), max(self._anchor, row))
            self.viewport().update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        super().wheelEvent(event)
        self._follow_if_at_end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        bar = self.verticalScrollBar()
        moves = {Qt.Key.Key_Home: -(10**9), Qt.Key.Key_End: 10**9}
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll) and self.lines and self.count():
            self._selected = (self._number(0), self._number(self.count() - 1))
            self.viewport().update()
        elif event.key() in moves:
            bar.setValue(max(0, min(bar.maximum(), bar.value() + moves[Qt.Key(event.key())])))
            self._follow_if_at_end()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._settle()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()


def limits_sentence(lines: LogLines | None) -> str:
    """What the view leaves out, '' where it has everything."""
    return t("log.cut", path=str(lines.path)) if lines and lines.is_cut else ""
