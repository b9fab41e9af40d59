"""The legend of a chart: a swatch, a name and a value for each line. None is dropped: what finds no room is counted,
and stands in the tooltip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from ui.widgets import theme
from ui.widgets.chart_lines import SHAPES, Style
from ui.widgets.plain_tip import plain_tip

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

SWATCH = 16
HEAD = 28


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A line of the chart: its style, its name and its value."""

    style: Style
    name: str
    value: str

    @property
    def text(self) -> str:
        return f"{self.name}  {self.value}" if self.name else self.value


class Legend(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.setMinimumHeight(HEAD)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        # It changes with each picture: what lies behind it need not be painted again.
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._entries: list[Entry] = []
        self._step = ""

    def show_entries(self, entries: list[Entry], step: str) -> None:
        if (entries, step) != (self._entries, self._step):
            self._entries, self._step = entries, step
            texts = [" ".join(entry.text.split()) for entry in entries]
            self.setAccessibleName(", ".join(filter(None, (step, *texts))))
            self.setToolTip(plain_tip("\n".join(texts)) if len(texts) > 1 else "")
            self.update()

    def visible(self, metrics: QFontMetrics) -> tuple[list[tuple[Style, str]], int]:
        """Return what is painted, and how many entries it leaves out: names go first, then the last entries."""
        whole = [(entry.style, entry.text) for entry in self._entries]
        if self._width(whole, metrics) <= self.width():
            return whole, 0
        bare = [(entry.style, entry.value) for entry in self._entries]
        while len(bare) > 1 and self._width(bare, metrics, len(self._entries) - len(bare)) > self.width():
            bare.pop()
        return bare, len(self._entries) - len(bare)

    def _width(self, texts: list[tuple[Style, str]], metrics: QFontMetrics, left_out: int = 0) -> int:
        rest = metrics.horizontalAdvance(_rest(left_out)) + 8 if left_out else 0
        return rest + sum(metrics.horizontalAdvance(text) + SWATCH + 16 for _, text in texts)

    def font_of_text(self) -> QFont:
        font = QFont(self.font())
        font.setPixelSize(12)
        return font

    def paintEvent(self, event: QPaintEvent) -> None:
        font = self.font_of_text()
        metrics = QFontMetrics(font)
        painter = QPainter(self)
        painter.fillRect(event.rect(), theme.color("surface"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(font)
        texts, left_out = self.visible(metrics)
        x = self.width() - self._width(texts, metrics, left_out) + 10
        base = (self.height() + metrics.ascent() - metrics.descent()) // 2
        painter.setPen(theme.color("dim"))
        if self._step and x - metrics.horizontalAdvance(self._step) > 16:
            painter.drawText(x - metrics.horizontalAdvance(self._step) - 12, base, self._step)
        for style, text in texts:
            _paint_swatch(painter, x, self.height() // 2, style, len(self._entries) > 1)
            painter.setPen(theme.color("dim"))
            painter.drawText(x + SWATCH + 6, base, text)
            x += metrics.horizontalAdvance(text) + SWATCH + 16
        if left_out:
            painter.drawText(x - 8, base, _rest(left_out))


def _rest(count: int) -> str:
    return f"+{count}"


def _paint_swatch(painter: QPainter, x: int, y: int, style: Style, has_shape: bool) -> None:
    color = theme.series_color(style.color)
    if style.is_pale:
        color.setAlpha(130)
    painter.setPen(QPen(color, 2))
    painter.drawLine(x, y, x + SWATCH, y)
    if has_shape and style.shape is not None:
        painter.save()
        painter.translate(x + SWATCH / 2, y)
        painter.scale(8, 8)
        painter.setPen(pg.mkPen(color, width=1))
        painter.setBrush(theme.color("surface"))
        painter.drawPath(pg.graphicsItems.ScatterPlotItem.Symbols[SHAPES[style.shape]])
        painter.restore()
