"""Pictures of the tensors of a row: where they differ, how their values lie, which elements are worst."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QVBoxLayout, QWidget

from backends.precision.compare.comparison import EXTRA, MISSING
from studio.errors import StudioError
from studio.texts import t
from ui.asking import ask
from ui.page_scroll import empty
from ui.precision import row_text
from ui.precision.picture_channels import ChannelView
from ui.precision.picture_heat import HeatView
from ui.precision.picture_histogram import HistogramView
from ui.precision.picture_read import Pictures, files_of, read_pictures, rows_with_files
from ui.precision.row_text import figure, stat
from ui.say import say
from ui.theme import mono_font
from ui.widgets import Sentence, button, label

if TYPE_CHECKING:
    from pathlib import Path

    from backends.precision.compare.comparison import Comparison
    from backends.precision.measure.picture import Element

KEPT = 24
PAUSE = 80
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
HEADS = (
    "precision.operator.index", "precision.operator.golden", "precision.operator.target",
    "precision.operator.difference",
)  # fmt: skip


class PictureView(QWidget):
    """`row_chosen`: another tensor of the same call. `deeper_wanted`: there are no tensors, a capture with them is
    wanted."""

    row_chosen = Signal(int)
    deeper_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._comparison: Comparison | None = None
        self._call = self.row = -1
        self._kept: dict[tuple[Path, Path], Pictures | StudioError] = {}
        self.tensor = QComboBox()
        self.tensor.setObjectName("precision_tensor")
        say(self.tensor, "setAccessibleName", "precision.operator.tensor")
        self.tensor.activated.connect(lambda _at: self.row_chosen.emit(int(self.tensor.currentData())))
        self.heat, self.histogram, self.channels = HeatView(), HistogramView(), ChannelView()
        self.of_channels = label(role="hint")
        self.said = Sentence()
        self.said.setObjectName("precision_picture_said")
        self.deeper = button("precision.operator.deeper_for_tensors", "precision_deeper_for_tensors")
        self.deeper.clicked.connect(self.deeper_wanted)
        self._worst = QGridLayout()
        self._worst.setHorizontalSpacing(8)
        self._worst.setVerticalSpacing(2)
        self._drawn = QWidget()
        drawn = QVBoxLayout(self._drawn)
        drawn.setContentsMargins(0, 0, 0, 0)
        drawn.setSpacing(6)
        drawn.addWidget(label("precision.operator.heat", "hint"))
        drawn.addWidget(self.heat)
        drawn.addWidget(label("precision.operator.histogram", "hint"))
        drawn.addWidget(self.histogram)
        drawn.addWidget(self.of_channels)
        drawn.addWidget(self.channels)
        drawn.addWidget(label("precision.operator.worst", "hint"))
        drawn.addLayout(self._worst)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.tensor)
        column.addWidget(self.said)
        column.addWidget(self.deeper, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._drawn)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.timeout.connect(self._read)

    def show_call(self, comparison: Comparison, call: int, row: int) -> None:
        """The tensors of `row`, where it has none of the call's worst output that has."""
        rows = rows_with_files(comparison, call) if call >= 0 else []
        self._comparison, self._call = comparison, call
        self.row = row if row in rows else _worst_of(comparison, rows)
        self._fill(rows)
        self._show_pictures()
        if self.row >= 0 and self._found() is None:
            self._pause.start(PAUSE)

    def pictures(self) -> Pictures | StudioError | None:
        """What is shown; None while it is read, and where there are no tensors."""
        return self._found()

    def _fill(self, rows: list[int]) -> None:
        assert self._comparison is not None
        self.tensor.clear()
        for row in rows:
            self.tensor.addItem(row_text.place(self._comparison, row), row)
        self.tensor.setCurrentIndex(max(0, self.tensor.findData(self.row)))
        self.tensor.setVisible(len(rows) > 1)

    def _files(self) -> tuple[Path, Path] | None:
        return files_of(self._comparison, self.row) if self._comparison is not None and self.row >= 0 else None

    def _found(self) -> Pictures | StudioError | None:
        files = self._files()
        return self._kept.get(files) if files else None

    def _is_alone(self) -> bool:
        """Only one side made the call."""
        found = self._comparison
        return found is not None and self._call >= 0 and found.call_verdict[self._call] in (MISSING, EXTRA)

    def _read(self) -> None:
        files = self._files()
        if files and files not in self._kept:
            ask(self, partial(read_pictures, files), partial(self._keep, files))

    def _keep(self, files: tuple[Path, Path], found: Pictures | StudioError) -> None:
        self._kept[files] = found
        while len(self._kept) > KEPT:
            self._kept.pop(next(iter(self._kept)))
        if files == self._files():
            self._show_pictures()

    def _show_pictures(self) -> None:
        found = self._found()
        is_drawn = isinstance(found, Pictures) and bool(found.difference.cells.size)
        self._drawn.setVisible(is_drawn)
        self.deeper.setVisible(self.row < 0 and not self._is_alone())
        self.said.setVisible(not is_drawn)
        if isinstance(found, Pictures) and is_drawn:
            self.heat.show_picture(found.difference)
            self.histogram.show_histograms(found.histograms)
            self._show_channels(found)
            self._show_worst(found.worst)
        elif isinstance(found, StudioError):
            self.said.setText(str(found))
        elif found is not None:
            self.said.setText(t("precision.operator.no_elements"))
        else:
            self.said.setText(t(self._none_key()))

    def _show_channels(self, found: Pictures) -> None:
        for widget in (self.of_channels, self.channels):
            widget.setVisible(found.channels is not None)
        if found.channels is not None:
            args = {"axis": found.axis, "count": len(found.channels.max_abs)}
            self.of_channels.setText(t("precision.operator.channels_of", **args))
            self.channels.show_channels(found.channels)

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
            cells = (index, stat(element.golden), stat(element.target), figure(element.absolute))
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


def _worst_of(comparison: Comparison, rows: list[int]) -> int:
    """The row with the largest error, of none -1."""
    errors = np.nan_to_num(comparison.error[rows])
    return rows[int(errors.argmax())] if rows else -1
