"""Lists of rows that are sorted by a click on a heading, and copied with Ctrl+C as spreadsheets expect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractItemModel, QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from studio.output.spreadsheet import tab_separated
from studio.texts import t
from ui.timeline.panes.list_model import single_line
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from PySide6.QtCore import QModelIndex
    from PySide6.QtGui import QKeyEvent, QResizeEvent

    from ui.timeline.panes.list_model import ListModel

ROW = 22
WIDEST = 260
MIN_WIDTH = 70
CELL_MARGIN, ARROW = 20, 16  # px around a text, and for the sort arrow
MEASURED = 40  # rows that are looked at to find the width of a column: Qt's own way takes 50 µs for a cell


class CopyView(QTableView):
    """A frameless table in which whole rows are selected and copied."""

    def __init__(self, name: str, key: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setStyleSheet(
            "QTableView, QTableView:focus { border: none; border-radius: 0; }"
            " QHeaderView::section { padding: 4px 8px; } QTableView::item { padding: 0 6px; }"
            " QLineEdit { padding: 0 4px; border-radius: 0; min-height: 0; }"
        )
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(ROW)
        self.verticalHeader().setMinimumSectionSize(ROW)
        self.horizontalHeader().setHighlightSections(False)
        localize(self.setAccessibleName, key)
        copy = QAction(self)
        copy.setObjectName(f"{name}_copy")
        copy.setShortcut(QKeySequence(QKeySequence.StandardKey.Copy))
        copy.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        copy.triggered.connect(self.copy)
        self.addAction(copy)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave Backspace to the lanes, where it steps back, instead of searching rows by their first letters."""
        if event.key() == Qt.Key.Key_Backspace:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def copy(self) -> None:
        """Copy the selected rows, with tabs between cells."""
        model = self.model()
        rows = sorted({index.row() for index in self.selectionModel().selectedRows()})
        columns = range(model.columnCount())
        cells = ([_cell(model, row, column) for column in columns] for row in rows)
        QGuiApplication.clipboard().setText(tab_separated(cells))


def _cell(model: QAbstractItemModel, row: int, column: int) -> str:
    return str(model.index(row, column).data() or "")


class ListView(CopyView):
    """`chosen`: a row was clicked or entered; `opened`: double-clicked, or entered; `entered_row`: by the Enter key.
    Rows are numbered in their original order, however they are sorted. `wide`: the column that takes the remaining
    width."""

    chosen = Signal(int)
    opened = Signal(int)
    entered_row = Signal(int)

    def __init__(self, model: ListModel, name: str, key: str, wide: int = 0) -> None:
        super().__init__(name, key)
        self._list = model
        self.setModel(model)
        head = self.horizontalHeader()
        head.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        head.setSortIndicatorClearable(True)
        head.setMinimumSectionSize(24)
        self._wide = wide
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSortingEnabled(True)
        model.modelReset.connect(self._fit)
        self.clicked.connect(lambda index: self.chosen.emit(self._number(index)))
        self.doubleClicked.connect(lambda index: self.opened.emit(self._number(index)))

    def _fit(self) -> None:
        head = self.horizontalHeader()
        for column in range(self._list.columnCount()):
            is_wide = column == self._wide
            head.setSectionResizeMode(
                column, QHeaderView.ResizeMode.Stretch if is_wide else QHeaderView.ResizeMode.Interactive
            )
        for column, width in self._widths().items():
            head.resizeSection(column, width)

    def _widths(self) -> dict[int, int]:
        """Return the widths of all columns but the wide one: that of their content, beyond WIDEST only where there is
        room."""
        needed = {column: self._width(column) for column in range(self._list.columnCount())}
        left = needed.pop(self._wide, 0)
        widths = {column: min(width, WIDEST) for column, width in needed.items()}
        spare = self.viewport().width() - left - sum(widths.values())
        for column, width in needed.items():
            more = min(width - widths[column], max(0, spare))
            widths[column] += more
            spare -= more
        return widths

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def _width(self, column: int) -> int:
        described, count = self._list.columns[column], len(self._list.rows)
        measure = self.fontMetrics().horizontalAdvance
        head = 0 if self.horizontalHeader().isHidden() else max(MIN_WIDTH, measure(t(described.head)) + ARROW)
        step = max(1, count // MEASURED)
        widest = max((measure(single_line(described.text(row))) for row in range(0, count, step)), default=0)
        return max(head, widest) + CELL_MARGIN

    def _number(self, index: QModelIndex) -> int:
        return int(self._list.rows[index.row()])

    def show_row(self, number: int) -> None:
        """Select a row without a click."""
        position = self._list.position_of(number)
        if position < 0:
            self.clearSelection()
            return
        index = self._list.index(position, 0)
        flags = QItemSelectionModel.SelectionFlag
        self.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
        self.scrollTo(index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        index = self.currentIndex()
        if is_enter and index.isValid() and self.state() != QAbstractItemView.State.EditingState:
            number = self._number(index)
            self.chosen.emit(number)
            self.opened.emit(number)
            self.entered_row.emit(number)
        else:
            super().keyPressEvent(event)
