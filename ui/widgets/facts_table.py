"""A small table of figures: names at the left, columns of numbers aligned at their right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from ui.widgets.basic import label, retone

if TYPE_CHECKING:
    from collections.abc import Sequence

RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class FactsTable(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(20)
        self._grid.setVerticalSpacing(6)
        self._cells: dict[tuple[int, int], QLabel] = {}

    def show_rows(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """The first cell of each row names it. Cells are used again, so that nothing flickers."""
        table = [heads, *rows]
        for cell in self._cells.values():
            cell.hide()
        for row, texts in enumerate(table):
            for column, text in enumerate(texts):
                self._show(row, column, text)
        self._grid.setColumnStretch(0, 1)

    def _show(self, row: int, column: int, text: str) -> None:
        cell = self._cells.get((row, column))
        if cell is None:
            cell = self._cells[row, column] = label()
            cell.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._grid.addWidget(cell, row, column, RIGHT if column else LEFT)
        retone(cell, "role", "hint" if row == 0 else "dim" if column == 0 else "")
        cell.setText(text)
        cell.show()
