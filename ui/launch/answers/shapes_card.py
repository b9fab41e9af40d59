"""What went into each cell of a network and what came out: a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractItemView, QTableWidget, QTableWidgetItem

from backends.launch.shapes.answer import read_shapes, text_of
from studio.output.spreadsheet import tab_separated
from studio.texts import t
from ui.widgets.answer_card import AnswerCard
from ui.widgets.basic import (
    Sentence,
    mono_font,
    show_icon,
    text_button,
)
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.launch.shapes.answer import Cell, Shapes
    from studio.run import Run

HEADS = (
    "shapes.head.cell", "shapes.head.type", "shapes.head.inputs", "shapes.head.outputs", "shapes.head.parameters",
    "shapes.head.trainable",
)  # fmt: skip
MAX_ROWS = 18  # at once; the others are scrolled to
NUMBERS = 4  # the columns from this one on
ROW = 26
FEEDBACK = 1500


class ShapesCard(AnswerCard):
    def __init__(self) -> None:
        super().__init__("shapes.card")
        self.setObjectName("curves_shapes")
        self.copy_button = text_button("shapes.copy", "shapes.copy")
        self.copy_button.clicked.connect(self._copy)
        self.header.addWidget(self.copy_button)
        self.sentence = Sentence()
        self.table = _table()
        for widget in (self.sentence, self.table):
            self.body.addWidget(widget)
        self._rows: list[Sequence[str]] = []
        self._feedback = QTimer(self)
        self._feedback.setSingleShot(True)
        self._feedback.timeout.connect(self._show_ready)
        self._show_ready()
        self.hide()

    def show_run(self, run: Run) -> None:
        shapes = read_shapes(run.folder)
        self.setVisible(shapes is not None)
        if shapes is None:
            return
        self.verdict = t("shapes.verdict")
        self.sentence.setText(shapes_sentences(shapes))
        self._rows = [tuple(map(t, HEADS)), *map(row_texts, shapes.cells)]
        self._fill()

    def _fill(self) -> None:
        heads, *rows = self._rows
        self.table.setRowCount(len(rows))
        for column, text in enumerate(heads):
            self.table.setHorizontalHeaderItem(column, _item(text, is_number=column >= NUMBERS))
        for row, cells in enumerate(rows):
            for column, text in enumerate(cells):
                self.table.setItem(row, column, _item(text, is_number=column >= NUMBERS))
        self.table.resizeColumnsToContents()
        visible_rows = min(len(rows), MAX_ROWS)
        bars = 2 * self.table.frameWidth() + self.table.horizontalScrollBar().sizeHint().height()
        self.table.setFixedHeight(self.table.horizontalHeader().sizeHint().height() + visible_rows * ROW + bars)

    def _copy(self) -> None:
        """Separated by tabs, as spreadsheets take it."""
        QGuiApplication.clipboard().setText(tab_separated(self._rows))
        localize(self.copy_button.setText, "shapes.copied")
        show_icon(self.copy_button, "check", "accent", 16)
        self._feedback.start(FEEDBACK)

    def _show_ready(self) -> None:
        localize(self.copy_button.setText, "shapes.copy")
        show_icon(self.copy_button, "copy", "accent", 16)


def shapes_sentences(shapes: Shapes) -> str:
    sentences = [
        t("shapes.about", batch=shapes.batch, device=shapes.device.upper()),
        t(
            "shapes.total", cells=len(shapes.cells), parameters=f"{shapes.parameters:,}",
            trainable=f"{shapes.trainable:,}",
        ),
    ]  # fmt: skip
    if shapes.inside:
        sentences.append(t("shapes.inside", level=shapes.amp, dtype=shapes.inside))
    return "\n".join(sentences)


def row_texts(cell: Cell) -> tuple[str, ...]:
    """A row; cells inside another stand a little to the right of it."""
    depth = cell.name.count(".") + 1 if cell.name else 0
    numbers = (f"{cell.parameters:,}", f"{cell.trainable:,}") if cell.parameters else ("", "")
    inputs = text_of(cell.inputs) if cell.calls else t("shapes.not_called")
    return (
        "  " * depth + (cell.name or t("shapes.network")),
        cell.type + (f" x {cell.calls}" if cell.calls > 1 else ""),
        inputs,
        text_of(cell.outputs),
        *numbers,
    )


def _table() -> QTableWidget:
    table = QTableWidget(0, len(HEADS))
    table.setObjectName("curves_shapes_table")
    localize(table.setAccessibleName, "shapes.card")
    table.setFont(mono_font(12))
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    table.setShowGrid(False)
    table.setTabKeyNavigation(False)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(ROW)
    table.horizontalHeader().setHighlightSections(False)
    table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    return table


def _item(text: str, *, is_number: bool) -> QTableWidgetItem:
    item = QTableWidgetItem(text)
    if is_number:
        item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return item
