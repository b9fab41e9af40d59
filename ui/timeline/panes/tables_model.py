"""A Qt model of the rows of a sheet: texts are extracted when they are painted, and sorted elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from ui.timeline.panes.list_model import LEFT, LONGEST_TIP, RIGHT, single_line
from ui.widgets import theme
from ui.widgets.plain_tip import plain_tip

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.timeline.tables.sheet_rows import SheetRows

    Index = QModelIndex | QPersistentModelIndex


class SheetModel(QAbstractTableModel):
    """`order`: numbers of the visible rows. `sort_requested`: by a column (-1: original order), descending or not."""

    sort_requested = Signal(int, bool)

    def __init__(self) -> None:
        super().__init__()
        self.rows: SheetRows | None = None
        self.order: NDArray[np.int64] = np.empty(0, np.int64)

    def show_rows(self, rows: SheetRows | None, order: NDArray[np.int64]) -> None:
        self.beginResetModel()
        self.rows, self.order = rows, order
        self.endResetModel()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self.sort_requested.emit(column, order == Qt.SortOrder.DescendingOrder)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's
        return 0 if parent.isValid() else len(self.order)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's
        return 0 if parent.isValid() or self.rows is None else len(self.rows.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal or section >= self.columnCount():
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return single_line(self._column(section).name)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(self._column(section).name[:LONGEST_TIP])
        return self._alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.order) or index.column() >= self.columnCount():
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return single_line(self._cell(index))
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(self._cell(index)[:LONGEST_TIP])
        if role == Qt.ItemDataRole.ForegroundRole:
            return theme.color("text")
        return self._alignment(index.column()) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def _cell(self, index: Index) -> str:
        return str(self._column(index.column()).cell(int(self.order[index.row()])))

    def _column(self, number: int) -> Any:
        assert self.rows is not None
        return self.rows.columns[number]

    def _alignment(self, column: int) -> Qt.AlignmentFlag:
        return RIGHT if self._column(column).is_number else LEFT
