"""Pictures of the tensors of a row: where they differ, how their values are distributed, which elements are worst."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QVBoxLayout, QWidget

from backends.precision.compare.comparison import EXTRA, MISSING
from studio.errors import StudioError
from studio.texts import t
from ui.precision import row_text
from ui.precision.picture.channels import ChannelView
from ui.precision.picture.heatmap import HeatmapView
from ui.precision.picture.histogram import HistogramView
from ui.precision.picture.pictures import (
    Pictures,
    read_pictures,
    rows_with_files,
    tensor_files,
)
from ui.precision.row_text import format_figure, format_statistic
from ui.services.background import run_in_background
from ui.widgets.basic import Sentence, button, label
from ui.widgets.localized import localize
from ui.widgets.page_scroll import empty
from ui.widgets.theme import mono_font

if TYPE_CHECKING:
    from pathlib import Path

    from backends.precision.compare.comparison import Comparison
    from backends.precision.measure.picture import Element

CACHE_SIZE = 24
PAUSE = 80
WIDEST_CHOICE = 320  # px
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
HEADS = (
    "precision.operator.index", "precision.operator.golden", "precision.operator.target",
    "precision.operator.difference",
)  # fmt: skip


class PictureView(QWidget):
    """`row_chosen`: another tensor of the call. `deeper_requested`: a capture with tensors is wanted, since there are
    none."""

    row_chosen = Signal(int)
    deeper_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._comparison: Comparison | None = None
        self._call = self.row = -1
        self._cache: dict[tuple[Path, Path], Pictures | StudioError] = {}
        self.tensor = QComboBox()
        self.tensor.setObjectName("precision_tensor")
        self.tensor.setMaximumWidth(WIDEST_CHOICE)
        localize(self.tensor.setAccessibleName, "precision.operator.tensor")
        self.tensor.activated.connect(lambda _at: self.row_chosen.emit(int(self.tensor.currentData())))
        self.heatmap, self.histogram, self.channels = HeatmapView(), HistogramView(), ChannelView()
        self.channels_label = label(role="hint")
        self.message = Sentence()
        self.message.setObjectName("precision_picture_said")
        self.deeper = button("precision.operator.deeper_for_tensors", "precision_deeper_for_tensors")
        self.deeper.clicked.connect(self.deeper_requested)
        self._worst = QGridLayout()
        self._worst.setHorizontalSpacing(8)
        self._worst.setVerticalSpacing(2)
        self._drawn = QWidget()
        drawn = QVBoxLayout(self._drawn)
        drawn.setContentsMargins(0, 0, 0, 0)
        drawn.setSpacing(6)
        drawn.addWidget(label("precision.operator.heat", "hint"))
        drawn.addWidget(self.heatmap)
        drawn.addWidget(label("precision.operator.histogram", "hint"))
        drawn.addWidget(self.histogram)
        drawn.addWidget(self.channels_label)
        drawn.addWidget(self.channels)
        drawn.addWidget(label("precision.operator.worst", "hint"))
        drawn.addLayout(self._worst)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.tensor)
        column.addWidget(self.message)
        column.addWidget(self.deeper, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._drawn)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.timeout.connect(self._read)

    def show_call(self, comparison: Comparison, call: int, row: int) -> None:
        """Show the tensors of `row` or, where it has none, of the call's row with the largest error."""
        rows = rows_with_files(comparison, call) if call >= 0 else []
        self._comparison, self._call = comparison, call
        self.row = row if row in rows else _worst_row(comparison, rows)
        self._fill(rows)
        self._show_pictures()
        if self.row >= 0 and self._cached() is None:
            self._pause.start(PAUSE)

    def pictures(self) -> Pictures | StudioError | None:
        """Return what is shown; None while it is read, and where there are no tensors."""
        return self._cached()

    def _fill(self, rows: list[int]) -> None:
        assert self._comparison is not None
        self.tensor.clear()
        for row in rows:
            self.tensor.addItem(row_text.item_text(self._comparison, row), row)
        self.tensor.setCurrentIndex(max(0, self.tensor.findData(self.row)))
        self.tensor.setVisible(len(rows) > 1)

    def _files(self) -> tuple[Path, Path] | None:
        return tensor_files(self._comparison, self.row) if self._comparison is not None and self.row >= 0 else None

    def _cached(self) -> Pictures | StudioError | None:
        files = self._files()
        return self._cache.get(files) if files else None

    def _is_alone(self) -> bool:
        """Return whether only one side made the call."""
        comparison = self._comparison
        return comparison is not None and self._call >= 0 and comparison.call_verdict[self._call] in (MISSING, EXTRA)

    def _read(self) -> None:
        files = self._files()
        if files and files not in self._cache:
            run_in_background(self, partial(read_pictures, files), partial(self._store, files))

    def _store(self, files: tuple[Path, Path], pictures: Pictures | StudioError) -> None:
        self._cache[files] = pictures
        while len(self._cache) > CACHE_SIZE:
            self._cache.pop(next(iter(self._cache)))
        if files == self._files():
            self._show_pictures()

    def _show_pictures(self) -> None:
        pictures = self._cached()
        is_drawn = isinstance(pictures, Pictures) and bool(pictures.difference.cells.size)
        self._drawn.setVisible(is_drawn)
        self.deeper.setVisible(self.row < 0 and not self._is_alone())
        self.message.setVisible(not is_drawn)
        if isinstance(pictures, Pictures) and is_drawn:
            self.heatmap.show_picture(pictures.difference)
            self.histogram.show_histograms(pictures.histograms)
            self._show_channels(pictures)
            self._show_worst(pictures.worst)
        elif isinstance(pictures, StudioError):
            self.message.setText(str(pictures))
        elif pictures is not None:
            self.message.setText(t("precision.operator.no_elements"))
        else:
            self.message.setText(t(self._none_key()))

    def _show_channels(self, pictures: Pictures) -> None:
        for widget in (self.channels_label, self.channels):
            widget.setVisible(pictures.channels is not None)
        if pictures.channels is not None:
            args = {"axis": pictures.axis, "count": len(pictures.channels.max_abs)}
            self.channels_label.setText(t("precision.operator.channels_of", **args))
            self.channels.show_channels(pictures.channels)

    def _none_key(self) -> str:
        if self._is_alone():
            return "precision.operator.one_side"
        return "precision.operator.no_tensors" if self.row < 0 else "precision.operator.reading"

    def _show_worst(self, worst: tuple[Element, ...]) -> None:
        empty(self._worst)
        if not worst:
            self._worst.addWidget(label("precision.operator.all_equal", "dim"), 0, 0)
        for column, key in enumerate(HEADS if worst else ()):
            head = label(key, "hint")
            self._worst.addWidget(head, 0, column, RIGHT if column else Qt.AlignmentFlag.AlignLeft)
        for line, element in enumerate(worst, 1):
            index = "[" + ", ".join(map(str, element.index)) + "]"
            cells = (
                index,
                format_statistic(element.golden),
                format_statistic(element.target),
                format_figure(element.absolute),
            )
            for column, text in enumerate(cells):
                cell = label(role="set")
                cell.setText(text)
                if not column:
                    cell.setFont(mono_font(12))
                self._worst.addWidget(cell, line, column, RIGHT if column else Qt.AlignmentFlag.AlignLeft)

    def retranslate(self) -> None:
        if self._comparison is not None:
            self._fill([int(self.tensor.itemData(at)) for at in range(self.tensor.count())])
            self._show_pictures()


def _worst_row(comparison: Comparison, rows: list[int]) -> int:
    """Return the row with the largest error, -1 for no rows."""
    errors = np.nan_to_num(comparison.error[rows])
    return rows[int(errors.argmax())] if rows else -1
