"""A view of source with line numbers, colours and the finding marked. It shows an excerpt and reads no file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QTextCharFormat, QTextCursor, QTextFormat
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from ui.migration.finding_texts import STATE_COLORS
from ui.migration.findings.highlighting import Highlighter, language_of
from ui.migration.state_mark import paint_mark
from ui.widgets import theme
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from PySide6.QtGui import QMouseEvent, QPaintEvent, QResizeEvent

    from backends.migration.finding import FindingState, ScanFinding
    from ui.migration.excerpt import Excerpt

GUTTER_MARK_SIZE = 10


class SourceView(QPlainTextEdit):
    """Read-only, so that text can be selected and copied. `line_opened`: the number, from 1, of a double-clicked
    line."""

    line_opened = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("migration_source")
        self.setReadOnly(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFont(theme.mono_font(12))
        self.setStyleSheet("QPlainTextEdit { border: none; border-radius: 0; padding: 0; }")
        self.setProperty("role", "source")
        localize(self.setAccessibleName, "migration.source")
        self._first = 1
        self._states: dict[int, FindingState] = {}
        self._marked_finding: ScanFinding | None = None
        self._numbers = _LineNumbers(self)
        self._highlighter = Highlighter(self.document())
        self.updateRequest.connect(self._scroll_numbers)
        theme.notifier().changed.connect(self._recolor)

    def show_excerpt(self, excerpt: Excerpt, findings: list[ScanFinding]) -> None:
        """Show lines with the findings of this file or cell, each marked beside its line."""
        self._first = excerpt.first
        self._marked_finding = None
        self.show_states(findings)
        self._highlighter.language = language_of(excerpt.path)
        self.setPlainText("\n".join(excerpt.lines))
        self.setViewportMargins(self.numbers_width(), 0, 0, 0)
        self._resize_numbers()

    def show_states(self, findings: list[ScanFinding]) -> None:
        self._states = {finding.line: finding.state for finding in findings}
        self._numbers.update()

    def mark_finding(self, finding: ScanFinding) -> None:
        """Scroll to a finding and mark it."""
        self._marked_finding = finding
        block = self.document().findBlockByNumber(finding.line - self._first)
        if block.isValid():
            self.setTextCursor(QTextCursor(block))
            self.centerCursor()
            self.horizontalScrollBar().setValue(0)
        self._draw_mark()

    def _draw_mark(self) -> None:
        finding = self._marked_finding
        self.setExtraSelections(self._selections(finding) if finding else [])
        self._numbers.update()

    def _selections(self, finding: ScanFinding) -> list[QTextEdit.ExtraSelection]:
        lines = [self._line_selection(line) for line in range(finding.line, min(finding.end, finding.line + 60) + 1)]
        exact = self._exact_selection(finding)
        return [selection for selection in (*lines, exact) if selection is not None]

    def _line_selection(self, line: int) -> QTextEdit.ExtraSelection | None:
        block = self.document().findBlockByNumber(line - self._first)
        if not block.isValid():
            return None
        selection = QTextEdit.ExtraSelection()
        selection.format.setBackground(theme.color("selected"))
        selection.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        selection.cursor = QTextCursor(block)
        return selection

    def _exact_selection(self, finding: ScanFinding) -> QTextEdit.ExtraSelection | None:
        begin = self.document().findBlockByNumber(finding.line - self._first)
        end = self.document().findBlockByNumber(finding.end - self._first)
        if (
            not begin.isValid()
            or not end.isValid()
            or (finding.end == finding.line and finding.end_column <= finding.column)
        ):
            return None
        selection = QTextEdit.ExtraSelection()
        color = theme.color(STATE_COLORS[finding.state])
        selection.format.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
        selection.format.setUnderlineColor(color)
        selection.format.setBackground(_translucent(color))
        selection.cursor = QTextCursor(begin)
        selection.cursor.setPosition(begin.position() + min(finding.column, begin.length() - 1))
        stop = end.position() + min(finding.end_column, end.length() - 1)
        selection.cursor.setPosition(stop, QTextCursor.MoveMode.KeepAnchor)
        return selection

    def numbers_width(self) -> int:
        last = self._first + self.blockCount()
        return self.fontMetrics().horizontalAdvance("9" * max(3, len(str(last)))) + GUTTER_MARK_SIZE + 22

    def paint_numbers(self, painter: QPainter, rect: QRect) -> None:
        painter.fillRect(rect, theme.color("sunken"))
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        marked = range(self._marked_finding.line, self._marked_finding.end + 1) if self._marked_finding else range(0)
        painter.setFont(self.font())
        while block.isValid() and top <= rect.bottom():
            height = self.blockBoundingRect(block).height()
            line = self._first + block.blockNumber()
            painter.setPen(theme.color("text" if line in marked else "dim"))
            box = QRectF(GUTTER_MARK_SIZE + 10, top, rect.width() - GUTTER_MARK_SIZE - 18, height)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(line))
            if (state := self._states.get(line)) is not None:
                paint_mark(
                    painter, QRectF(6, top + (height - GUTTER_MARK_SIZE) / 2, GUTTER_MARK_SIZE, GUTTER_MARK_SIZE), state
                )
            top += height
            block = block.next()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        super().mouseDoubleClickEvent(event)
        self.line_opened.emit(self._first + self.cursorForPosition(event.position().toPoint()).blockNumber())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._resize_numbers()

    def _resize_numbers(self) -> None:
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


class _LineNumbers(QWidget):
    def __init__(self, view: SourceView) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self) -> QSize:
        return QSize(self._view.numbers_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            self._view.paint_numbers(painter, self.rect())


def _translucent(color: QColor) -> QColor:
    faded = QColor(color)
    faded.setAlpha(48)
    return faded
