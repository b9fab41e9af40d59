"""A tooltip next to the pointer, shown at once: Qt's own waits, and repaints what is below."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from ui.widgets import theme

PAD, GAP, LINE, WIDEST, LETTERS = 9, 14, 18, 460, 300


class PointerTip(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._parent = parent
        self.setObjectName("timeline_tip")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.lines: tuple[str, ...] = ()
        self.hide()

    def show_at(self, position: QPoint, lines: tuple[str, ...]) -> None:
        """Show lines next to the pointer, on the side with room. The first line is the name."""
        self.lines = tuple(" ".join(line[:LETTERS].split()) for line in lines)
        wide = min(WIDEST, max(self._advance(line) for line in self.lines) + 2 * PAD)
        room = self._parent.rect()
        box = QRect(position + QPoint(GAP, GAP), position + QPoint(GAP + wide, GAP + LINE * len(lines) + 2 * PAD - 4))
        if box.right() > room.right():
            box.moveRight(max(position.x() - GAP, box.width()))
        if box.bottom() > room.bottom():
            box.moveBottom(position.y() - GAP)
        self.setGeometry(box)
        self.show()
        self.raise_()
        self.update()

    def _advance(self, line: str) -> int:
        return self.fontMetrics().horizontalAdvance(line)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(theme.color("rim"))
        painter.setBrush(theme.color("surface"))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        for number, line in enumerate(self.lines):
            painter.setPen(theme.color("text" if number == 0 else "dim"))
            box = QRect(PAD, PAD - 2 + number * LINE, self.width() - 2 * PAD, LINE)
            elided = painter.fontMetrics().elidedText(line, Qt.TextElideMode.ElideMiddle, box.width() + 2)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, elided)
        painter.end()
