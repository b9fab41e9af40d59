"""The difference of two tensors as a map: the warmer a cell, the larger the difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from studio.texts import t
from ui.precision.row_text import format_figure
from ui.widgets import theme
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PySide6.QtGui import QMouseEvent, QPaintEvent

    from backends.precision.measure.picture import Picture

HEIGHT = 132
LEGEND = 18
DECADES = 3.0
MIN_CELL = 3
MAX_CELL_ASPECT = 4
SHADES = 64


class HeatmapView(QWidget):
    """Coloured by log10 of |difference|, over three decades below the largest; equal elements stay blank."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("precision_heat")
        self.setMouseTracking(True)
        self.setFixedHeight(HEIGHT + LEGEND)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        localize(self.setAccessibleName, "precision.operator.heat")
        self.picture: Picture | None = None
        self._image: QImage | None = None
        theme.notifier().changed.connect(self._draw_again)

    def sizeHint(self) -> QSize:
        return QSize(280, HEIGHT + LEGEND)

    def show_picture(self, picture: Picture) -> None:
        self.picture = picture
        self._draw_again()

    def _draw_again(self) -> None:
        if self.picture is not None and self.picture.cells.size:
            self._image = heatmap_image(self.picture.cells)
        self.update()

    def _map_rect(self) -> QRectF:
        """Return the rectangle of the map; with few cells, they are at most a few times as wide as high."""
        assert self.picture is not None
        down, across = self.picture.cells.shape
        width, height = self.width(), HEIGHT
        cell = min(width / max(1, across), height / max(1, down))
        if cell < MIN_CELL or across == 1 or down == 1:
            return QRectF(0, 0, width, height if down > 1 else min(height, 24))
        return QRectF(0, 0, min(width, MAX_CELL_ASPECT * cell * across), cell * down)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.picture is None or self._image is None:
            return
        with QPainter(self) as painter:
            rect = self._map_rect()
            painter.drawImage(rect, self._image)
            painter.setPen(theme.color("rim"))
            painter.drawRect(rect.adjusted(0, 0, -1, -1))
            self._paint_legend(painter)

    def _paint_legend(self, painter: QPainter) -> None:
        """Paint the values of the warmest and the coldest shade."""
        assert self.picture is not None
        largest = _largest(self.picture.cells)
        font = painter.font()
        font.setPixelSize(11)
        painter.setFont(font)
        y = HEIGHT + 4
        ramp = QImage(shades()[:, [2, 1, 0, 3]].tobytes(), SHADES, 1, QImage.Format.Format_ARGB32).copy()
        low, high = format_figure(largest * 10**-DECADES), format_figure(largest)
        painter.setPen(theme.color("dim"))
        metrics = painter.fontMetrics()
        left = metrics.horizontalAdvance(low) + 8
        painter.drawText(QRectF(0, y, left, 14), Qt.AlignmentFlag.AlignVCenter, low)
        painter.drawImage(QRectF(left, y + 3, 80, 8), ramp)
        painter.drawText(QRectF(left + 88, y, 160, 14), Qt.AlignmentFlag.AlignVCenter, high)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.picture is None or not self.picture.cells.size:
            return
        rect, (down, across) = self._map_rect(), self.picture.cells.shape
        if rect.contains(event.position()):
            row = min(int(event.position().y() / rect.height() * down), down - 1)
            column = min(int(event.position().x() / rect.width() * across), across - 1)
            QToolTip.showText(event.globalPosition().toPoint(), self.tooltip_of(row, column), self)
        else:
            QToolTip.hideText()

    def tooltip_of(self, row: int, column: int) -> str:
        """Return '[0, 3, 8] and those after it: 2.4e-03'."""
        assert self.picture is not None
        index = ", ".join(map(str, self.picture.index_of(row, column)))
        error = format_figure(float(self.picture.cells[row, column]))
        is_element = self.picture.block == (1, 1)
        key = "precision.operator.heat_one" if is_element else "precision.operator.heat_block"
        return t(key, index=index, error=error, down=self.picture.block[0], across=self.picture.block[1])

    def leaveEvent(self, event: QEvent) -> None:
        QToolTip.hideText()


def heatmap_image(cells: NDArray[np.float32]) -> QImage:
    """Return the map in the colours of the theme; infinite differences have the colour of errors."""
    largest = _largest(cells)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = 1 + np.log10(cells / largest) / DECADES if largest > 0 else np.zeros(cells.shape)
    shade = np.clip(np.nan_to_num(share, nan=1.0, posinf=1.0, neginf=0.0), 0, 1) * (SHADES - 1)
    colors = shades()[shade.astype(np.intp)]
    colors[cells == 0] = _rgba(theme.color("surface"))
    colors[~np.isfinite(cells)] = _rgba(theme.color("bad"))
    pixels = np.ascontiguousarray(colors[..., [2, 1, 0, 3]])
    down, across = cells.shape
    return QImage(pixels.tobytes(), across, down, across * 4, QImage.Format.Format_ARGB32).copy()


def shades() -> NDArray[np.uint8]:
    """Return (SHADES, 4) RGBA colours, from slightly above the ground colour to warm."""
    cold, warm = np.array(_rgba(theme.color("sunken"))), np.array(_rgba(theme.series_color(1)))
    share = np.linspace(0.12, 1, SHADES)[:, None]
    colors: NDArray[np.uint8] = (cold + (warm - cold) * share).round().astype(np.uint8)
    return colors


def _largest(cells: NDArray[np.float32]) -> float:
    finite = cells[np.isfinite(cells)]
    return float(finite.max()) if len(finite) else 0.0


def _rgba(color: QColor) -> tuple[int, int, int, int]:
    return color.red(), color.green(), color.blue(), 255
