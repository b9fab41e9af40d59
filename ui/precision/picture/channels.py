"""The error of each channel: a bar for each index of the tensor's channel axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.texts import t
from ui.precision.row_text import format_figure
from ui.widgets import theme
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PySide6.QtGui import QPaintEvent

    from backends.precision.measure.picture import Channels

HEIGHT, FOOT = 64, 18
MAX_NAMED = 3
LARGEST = float(np.finfo(np.float64).max)


class ChannelView(QWidget):
    """Bars as high as the largest difference of a channel; with more channels than pixels, a bar is the worst of
    several."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("precision_channels")
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        localize(self.setAccessibleName, "precision.operator.channels")
        self.channels: Channels | None = None
        theme.notifier().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(280, HEIGHT)

    def show_channels(self, channels: Channels | None) -> None:
        self.channels = channels
        self.update()

    def retranslate(self) -> None:
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.channels is None:
            return
        heights = np.nan_to_num(self.channels.max_abs, posinf=LARGEST)
        with QPainter(self) as painter:
            self._paint_bars(painter, heights)
            self._paint_foot(painter, heights)

    def _paint_bars(self, painter: QPainter, heights: NDArray[np.float64]) -> None:
        largest = float(heights.max(initial=0.0)) or 1.0
        count = min(len(heights), self.width())
        edges = np.linspace(0, len(heights), count + 1).astype(int)[:-1]
        bars = np.maximum.reduceat(heights, edges) if count else heights
        width, bottom = self.width() / max(1, count), HEIGHT - FOOT
        painter.fillRect(QRectF(0, bottom, self.width(), 1), theme.color("rim"))
        for n, height in enumerate((bars / largest * (bottom - 2)).tolist()):
            painter.fillRect(
                QRectF(n * width, bottom - height, max(1.0, width - (width > 3)), height), theme.color("bad")
            )

    def _paint_foot(self, painter: QPainter, heights: NDArray[np.float64]) -> None:
        font = painter.font()
        font.setPixelSize(11)
        painter.setFont(font)
        painter.setPen(theme.color("dim"))
        worst = [int(n) for n in np.argsort(-heights, kind="stable")[:MAX_NAMED] if heights[n] > 0]
        named = ", ".join(f"{n} ({format_figure(float(heights[n]))})" for n in worst)
        text = t("precision.operator.worst_channels", channels=named) if worst else t("precision.operator.all_equal")
        painter.drawText(QRectF(0, HEIGHT - FOOT + 3, self.width(), 15), 0, text)
