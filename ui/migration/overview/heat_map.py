"""A treemap of the files: a tile's size is the file's length, its warmth the effort."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from studio.texts import t
from ui.migration.overview.tiles import Tile, lay_tiles
from ui.widgets import theme
from ui.widgets.localized import localize
from ui.widgets.plain_tip import plain_tip

if TYPE_CHECKING:
    from PySide6.QtCore import QEvent, QPoint
    from PySide6.QtGui import QKeyEvent, QMouseEvent, QPaintEvent, QResizeEvent

    from backends.migration.scan.overview import FileHeat

MAX_FILES = 60
HOT_EFFORT = 20
MIN_SHARE = 0.004
MIN_TILE_FOR_NAME = 46, 20
PADDING = 6


class HeatMap(QWidget):
    """`file_chosen`: the path of a file. The arrow keys move between tiles, Enter chooses one."""

    file_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("migration_heat")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(110)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        localize(self.setAccessibleName, "migration.overview.heat")
        self.files: tuple[FileHeat, ...] = ()
        self._tiles: list[Tile] = []
        self._max_effort = 1
        self._current = 0
        theme.notifier().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(600, 190)

    def show_files(self, files: tuple[FileHeat, ...]) -> None:
        """Show the files that take the most effort, which come first."""
        self.files = files[:MAX_FILES]
        self._max_effort = max((HOT_EFFORT, *(file.effort for file in self.files)))
        self._current = 0
        self._lay_out()

    def _lay_out(self) -> None:
        sizes = [float(max(1, file.lines or sum(file.places.values()))) for file in self.files]
        min_size = sum(sizes) * MIN_SHARE
        self._tiles = lay_tiles([max(size, min_size) for size in sizes], self.width(), self.height())
        self.update()

    def tile_rect(self, path: str) -> QRectF:
        """Return where a file is drawn."""
        number = next(number for number, file in enumerate(self.files) if file.path == path)
        return self._tiles[number].rect

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setFont(self.font())
            for tile in self._tiles:
                self._paint_tile(painter, tile.rect.adjusted(0, 0, -2, -2), self.files[tile.number])
            if self.hasFocus() and self._tiles:
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(theme.color("accent"), 2))
                painter.drawRect(self._tiles[self._current].rect.adjusted(1, 1, -3, -3))

    def _paint_tile(self, painter: QPainter, rect: QRectF, file: FileHeat) -> None:
        painter.fillRect(rect, warmth(file.effort / self._max_effort))
        if rect.width() < MIN_TILE_FOR_NAME[0] or rect.height() < MIN_TILE_FOR_NAME[1]:
            return
        inside = rect.adjusted(PADDING, 3, -PADDING, -3)
        painter.setPen(theme.color("text"))
        name = PurePosixPath(file.path).name
        metrics = painter.fontMetrics()
        effort = str(file.effort) if file.effort else ""
        is_high = rect.height() >= 2 * metrics.height() + 8
        effort_width = 0 if is_high else metrics.horizontalAdvance(effort) + 6
        fits = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, int(inside.width() - effort_width))
        painter.drawText(inside, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, fits)
        corner = Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeft
        painter.drawText(inside, corner if is_high else Qt.AlignmentFlag.AlignRight, effort)

    def _number_at(self, position: QPoint) -> int:
        return next((tile.number for tile in self._tiles if tile.rect.contains(position)), -1)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            number = self._number_at(event.pos())
            if number >= 0:
                QToolTip.showText(event.globalPos(), plain_tip(file_hint(self.files[number])), self)
            return True
        return super().event(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        number = self._number_at(event.position().toPoint())
        if number >= 0:
            self._current = number
            self.file_chosen.emit(self.files[number].path)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1, Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1}
        if self.files and event.key() in steps:
            self._current = (self._current + steps[Qt.Key(event.key())]) % len(self.files)
            self.update()
        elif self.files and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.file_chosen.emit(self.files[self._current].path)
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()


def file_hint(file: FileHeat) -> str:
    total = sum(file.places.values())
    return t("migration.file_hint", path=file.path, places=total, effort=file.effort, advice=file.advice)


def warmth(share: float) -> QColor:
    """Return a colour between the background and a light red; text stays readable on all of them."""
    cold, warm = theme.color("sunken"), theme.series_color(1)
    strength = 0.0 if share <= 0 else 0.1 + 0.45 * share**0.7
    mixed = [round(a + (b - a) * strength) for a, b in zip(_channels(cold), _channels(warm), strict=True)]
    return QColor(*mixed)


def _channels(color: QColor) -> tuple[int, int, int]:
    return color.red(), color.green(), color.blue()
