"""The histogram of both tensors: the golden side as an area, the target as a line over it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.texts import t
from ui.precision.row_text import format_statistic
from ui.widgets import theme
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PySide6.QtGui import QPaintEvent

    from backends.precision.measure.picture import Histograms

HEIGHT = 96
FOOT, HEAD = 16, 18


class HistogramView(QWidget):
    """Bars are as high as the square root of their counts, so that rare values at the ends are visible."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("precision_histogram")
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        localize(self.setAccessibleName, "precision.operator.histogram")
        self.histograms: Histograms | None = None
        theme.notifier().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(280, HEIGHT)

    def show_histograms(self, histograms: Histograms) -> None:
        self.histograms = histograms
        self.update()

    def retranslate(self) -> None:
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.histograms is None:
            return
        with QPainter(self) as painter:
            font = painter.font()
            font.setPixelSize(11)
            painter.setFont(font)
            largest = max(1.0, float(np.sqrt(max(self.histograms.golden.max(), self.histograms.target.max()))))
            golden = self._outline(self.histograms.golden, largest)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("rim"))
            painter.drawPolygon(golden)
            painter.setPen(QPen(theme.color("accent"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPolyline(self._outline(self.histograms.target, largest))
            self._paint_ends(painter)
            self._paint_legend(painter)

    def _outline(self, counts: NDArray[np.int64], largest: float) -> QPolygonF:
        """Return the steps of the histogram from bottom left to bottom right."""
        bottom, high = HEIGHT - FOOT, HEIGHT - FOOT - HEAD
        edges = np.repeat(np.linspace(0, self.width() - 1, len(counts) + 1), 2)
        heights = np.concatenate([[0], np.repeat(np.sqrt(counts) / largest * high, 2), [0]])
        return QPolygonF([QPointF(x, bottom - y) for x, y in zip(edges.tolist(), heights.tolist(), strict=True)])

    def _paint_ends(self, painter: QPainter) -> None:
        assert self.histograms is not None
        painter.setPen(theme.color("dim"))
        foot = QRectF(0, HEIGHT - FOOT + 2, self.width(), 14)
        painter.drawText(foot, Qt.AlignmentFlag.AlignLeft, format_statistic(float(self.histograms.edges[0])))
        painter.drawText(foot, Qt.AlignmentFlag.AlignRight, format_statistic(float(self.histograms.edges[-1])))

    def _paint_legend(self, painter: QPainter) -> None:
        left, metrics = 0.0, painter.fontMetrics()
        sides = (("rim", t("precision.operator.golden")), ("accent", t("precision.operator.target")))
        for token, text in sides:
            painter.setPen(QPen(theme.color(token), 3 if token == "rim" else 1))
            height = 8 if token == "rim" else 2
            painter.fillRect(QRectF(left, 9 - height / 2, 12, height), theme.color(token))
            painter.setPen(theme.color("dim"))
            width = metrics.horizontalAdvance(text)
            painter.drawText(QRectF(left + 17, 2, width + 2, 14), Qt.AlignmentFlag.AlignVCenter, text)
            left += width + 32
