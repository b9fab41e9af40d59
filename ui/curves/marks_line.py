"""What the marks on the charts mean, and how many there are; where a run goes on from another, the sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from studio.texts import t
from ui.widgets import theme
from ui.widgets.basic import Sentence, label, retone
from ui.widgets.event_marks import (
    COLORS,
    SHAPES,
    SIZE,
    kinds_of,
    sentence,
)
from ui.widgets.page_scroll import empty

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from backends.common.marks import Kind, Marks

NAMES: dict[Kind, str] = {
    "nan": "mark.kind.nan",
    "overflow": "mark.kind.overflow",
    "checkpoint": "mark.kind.checkpoint",
}


class Shape(QWidget):
    """A mark as it is on the charts."""

    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self._kind = kind
        self.setFixedSize(SIZE + 4, SIZE + 8)

    def paintEvent(self, event: QPaintEvent) -> None:
        color = theme.color(COLORS[self._kind])
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(self.width() / 2, self.height() / 2)
        painter.scale(SIZE, SIZE)
        painter.setPen(pg.mkPen(color, width=1))
        painter.setBrush(theme.color("surface") if self._kind == "checkpoint" else color)
        painter.drawPath(pg.graphicsItems.ScatterPlotItem.Symbols[SHAPES[self._kind]])


class MarksLine(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("curves_marks")
        self.resumed = Sentence()
        self._resumed_shape = Shape("resume")
        first = QHBoxLayout()
        first.setSpacing(6)
        first.addWidget(self._resumed_shape, 0, Qt.AlignmentFlag.AlignTop)
        first.addWidget(self.resumed, 1)
        self._row = QHBoxLayout()
        self._row.setSpacing(6)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(first)
        column.addLayout(self._row)
        self._drawn: tuple[object, ...] = ()
        self.hide()

    def show_marks(self, marks: Marks) -> None:
        resumed = marks.first("resume")
        text = sentence(resumed) if resumed else ""
        counts = [(kind, t(NAMES[kind], count=marks.count[kind])) for kind in kinds_of(marks.marks) if kind in NAMES]
        if (text, *counts) == self._drawn:
            return
        self._drawn = (text, *counts)
        self.setVisible(bool(text or counts))
        self.resumed.setText(text)
        retone(self.resumed, "role", "dim" if resumed and resumed.key == "launch.resumed" else "warning")
        self.resumed.setVisible(bool(text))
        self._resumed_shape.setVisible(bool(text))
        empty(self._row)
        for kind, words in counts:
            name = label(role="hint")
            name.setText(words)
            self._row.addWidget(Shape(kind))
            self._row.addWidget(name)
            self._row.addSpacing(10)
        self._row.addStretch(1)
