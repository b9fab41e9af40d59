"""A view of a sheet: as wide as its columns, sorted by a click on a heading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QGuiApplication

from studio.output.spreadsheet import safe_column
from ui.timeline.panes.list_view import ARROW, CELL_MARGIN, MEASURED, MIN_WIDTH, WIDEST, CopyView

if TYPE_CHECKING:
    from PySide6.QtCore import QModelIndex
    from PySide6.QtGui import QKeyEvent

    from ui.timeline.panes.tables_model import SheetModel

ROOM_FOR_ARROW = " QHeaderView::section { padding: 4px 16px 4px 8px; }"


class SheetView(CopyView):
    """`opened`: a row was double-clicked or entered; its number in the sheet, however the rows are sorted."""

    opened = Signal(int)

    def __init__(self, model: SheetModel) -> None:
        super().__init__("timeline_sheet", "timeline.tables_pane.table")
        self._sheet = model
        self.setModel(model)
        self.setStyleSheet(self.styleSheet() + ROOM_FOR_ARROW)
        head = self.horizontalHeader()
        head.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        head.setSortIndicatorClearable(True)
        head.setMinimumSectionSize(24)
        # With the table's own it asks at every painting whether all rows of a column are chosen: 0.1 s for each column.
        head.setSelectionModel(QItemSelectionModel(model, self))
        self.setSortingEnabled(True)
        self.doubleClicked.connect(self._open)

    def fit(self) -> None:
        """Fit the columns to their content, judged by the first rows."""
        for column in range(self._sheet.columnCount()):
            self.setColumnWidth(column, self._width(column))

    def _width(self, column: int) -> int:
        model, measure = self._sheet, self.fontMetrics().horizontalAdvance
        texts = (str(model.index(row, column).data()) for row in range(min(MEASURED, model.rowCount())))
        head = measure(str(model.headerData(column, Qt.Orientation.Horizontal))) + ARROW
        return min(max(MIN_WIDTH, head, *map(measure, texts)) + CELL_MARGIN, WIDEST)

    def forget_order(self) -> None:
        """Show the rows of another sheet in their original order."""
        head = self.horizontalHeader()
        was = head.blockSignals(True)
        head.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        head.blockSignals(was)

    def copy(self) -> None:
        """Copy the selected rows as a whole. By columns and ranges of rows: Qt's own lists of cells take ten times as
        long."""
        if (rows := self._sheet.rows) is not None:
            chosen = self.selectionModel().selection()
            ranges = (chosen.at(number) for number in range(chosen.size()))
            places = sorted({row for span in ranges for row in range(span.top(), span.bottom() + 1)})
            columns = [safe_column(column.cells()) for column in rows.columns]
            lines = ("\t".join(column[row] for column in columns) for row in self._sheet.order[places].tolist())
            QGuiApplication.clipboard().setText("\n".join(lines))

    def _open(self, index: QModelIndex) -> None:
        self.opened.emit(int(self._sheet.order[index.row()]))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self._open(self.currentIndex())
        else:
            super().keyPressEvent(event)
