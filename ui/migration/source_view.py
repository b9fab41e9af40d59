"""Source with line numbers, colours, and the place of a finding marked. Shows an excerpt; reads no file itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QTextCharFormat, QTextCursor, QTextFormat
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from ui import theme
from ui.migration.highlighting import Highlighter, language_of
from ui.migration.names import TOKENS
from ui.migration.state_mark import paint_mark
from ui.say import say

if TYPE_CHECKING:
    from PySide6.QtGui import QMouseEvent, QPaintEvent, QResizeEvent

    from backends.migration.found import Found, State
    from ui.migration.excerpt import Excerpt

MARK = 10


class SourceView(QPlainTextEdit):
    """Read only, so that it can be selected and copied from. `line_opened`: of a double click, from 1."""

    line_opened = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("migration_source")
        self.setReadOnly(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFont(theme.mono_font(12))
        self.setStyleSheet("QPlainTextEdit { border: none; border-radius: 0; padding: 0; }")
        self.setProperty("role", "source")
        say(self, "setAccessibleName", "migration.source")
        self._first = 1
        self._states: dict[int, State] = {}
        self._marked: Found | None = None
        self._numbers = _Numbers(self)
        self._highlighter = Highlighter(self.document())
        self.updateRequest.connect(self._scroll_numbers)
        theme.notifier().changed.connect(self._recolor)

    def show_excerpt(self, excerpt: Excerpt, findings: list[Found]) -> None:
        """`findings`: those of this file or cell; each has its mark beside its line."""
        self._first = excerpt.first
        self._marked = None
        self.show_states(findings)
        self._highlighter.language = language_of(excerpt.path)
        self.setPlainText("\n".join(excerpt.lines))
        self.setViewportMargins(self.numbers_width(), 0, 0, 0)
        self._place_numbers()

    def show_states(self, findings: list[Found]) -> None:
        self._states = {found.line: found.state for found in findings}
        self._numbers.update()

    def mark(self, found: Found) -> None:
        """Brings the place into the middle and marks it."""
        self._marked = found
        block = self.document().findBlockByNumber(found.line - self._first)
        if block.isValid():
            self.setTextCursor(QTextCursor(block))
            self.centerCursor()
            self.horizontalScrollBar().setValue(0)
        self._draw_mark()

    def _draw_mark(self) -> None:
        found = self._marked
        self.setExtraSelections(self._selections(found) if found else [])
        self._numbers.update()

    def _selections(self, found: Found) -> list[QTextEdit.ExtraSelection]:
        lines = [self._line_selection(line) for line in range(found.line, min(found.end, found.line + 60) + 1)]
        exact = self._exact_selection(found)
        return [one for one in (*lines, exact) if one is not None]

    def _line_selection(self, line: int) -> QTextEdit.ExtraSelection | None:
        block = self.document().findBlockByNumber(line - self._first)
        if not block.isValid():
            return None
        made = QTextEdit.ExtraSelection()
        made.format.setBackground(theme.color("selected"))
        made.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        made.cursor = QTextCursor(block)
        return made

    def _exact_selection(self, found: Found) -> QTextEdit.ExtraSelection | None:
        begin = self.document().findBlockByNumber(found.line - self._first)
        end = self.document().findBlockByNumber(found.end - self._first)
        if not begin.isValid() or not end.isValid() or (found.end == found.line and found.end_column <= found.column):
            return None
        made = QTextEdit.ExtraSelection()
        color = theme.color(TOKENS[found.state])
        made.format.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
        made.format.setUnderlineColor(color)
        made.format.setBackground(_faded(color))
        made.cursor = QTextCursor(begin)
        made.cursor.setPosition(begin.position() + min(found.column, begin.length() - 1))
        stop = end.position() + min(found.end_column, end.length() - 1)
        made.cursor.setPosition(stop, QTextCursor.MoveMode.KeepAnchor)
        return made

    def numbers_width(self) -> int:
        last = self._first + self.blockCount()
        return self.fontMetrics().horizontalAdvance("9" * max(3, len(str(last)))) + MARK + 22

    def paint_numbers(self, painter: QPainter, rect: QRect) -> None:
        painter.fillRect(rect, theme.color("sunken"))
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        marked = range(self._marked.line, self._marked.end + 1) if self._marked else range(0)
        painter.setFont(self.font())
        while block.isValid() and top <= rect.bottom():
            height = self.blockBoundingRect(block).height()
            line = self._first + block.blockNumber()
            painter.setPen(theme.color("text" if line in marked else "dim"))
            box = QRectF(MARK + 10, top, rect.width() - MARK - 18, height)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(line))
            if (state := self._states.get(line)) is not None:
                paint_mark(painter, QRectF(6, top + (height - MARK) / 2, MARK, MARK), state)
            top += height
            block = block.next()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        super().mouseDoubleClickEvent(event)
        self.line_opened.emit(self._first + self.cursorForPosition(event.position().toPoint()).blockNumber())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_numbers()

    def _place_numbers(self) -> None:
        inside = self.contentsRect()
        self._numbers.setGeometry(inside.left(), inside.top(), self.numbers_width(), inside.height())

    def _scroll_numbers(self, rect: QRect, moved: int) -> None:
        if moved:
            self._numbers.scroll(0, moved)
        else:
            self._numbers.update(0, rect.y(), self._numbers.width(), rect.height())

    def _recolor(self) -> None:
        self._highlighter.recolor()
        self._highlighter.rehighlight()
        self._draw_mark()


class _Numbers(QWidget):
    def __init__(self, view: SourceView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self) -> QSize:
        return QSize(self._view.numbers_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            self._view.paint_numbers(painter, self.rect())


def _faded(color: QColor) -> QColor:
    faded = QColor(color)
    faded.setAlpha(48)
    return faded
