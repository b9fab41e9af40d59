"""Table models whose texts are made only when they are painted; sorting uses arrays of figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from studio.texts import t
from ui.widgets import theme
from ui.widgets.plain_tip import plain_tip

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Index = QModelIndex | QPersistentModelIndex

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
LONGEST = 1000  # letters of a cell: a name may hold a whole program
LONGEST_TIP = 4000


@dataclass(frozen=True, kw_only=True, eq=False)
class Column:
    """`head`: text key of its title. `text`: makes the text of a row. `order`: array to sort by, None: not sortable.
    `tip`: makes the tooltip of a row, the text where None. `hint`: text key of the title's tooltip."""

    head: str
    text: Callable[[int], str]
    order: NDArray[Any] | None = None
    is_number: bool = False
    token: str = "text"
    tip: Callable[[int], str] | None = None
    hint: str = ""


class ListModel(QAbstractTableModel):
    """`rows`: numbers of the rows in display order. `keep`: called with what was typed into a cell, for
    editable lists."""

    def __init__(self) -> None:
        super().__init__()
        self.columns: tuple[Column, ...] = ()
        self.rows: NDArray[np.int64] = np.empty(0, np.int64)
        self.edited = -1
        self.keep: Callable[[int, str], object] | None = None
        self._sorted = (-1, Qt.SortOrder.AscendingOrder)

    def show_rows(self, columns: Sequence[Column], count: int) -> None:
        """Show other rows, in the order that was chosen last."""
        self.beginResetModel()
        self.columns = tuple(columns)
        self.rows = np.arange(count)
        self._arrange()
        self.endResetModel()

    def position_of(self, row: int) -> int:
        """Return where a row is shown, -1: nowhere."""
        places = np.flatnonzero(self.rows == row)
        return int(places[0]) if len(places) else -1

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; -1 restores the original order."""
        self._sorted = (column, order)
        self.beginResetModel()
        self._arrange()
        self.endResetModel()

    def _arrange(self) -> None:
        column, direction = self._sorted
        by = self.columns[column].order if 0 <= column < len(self.columns) else None
        if by is None:
            self.rows = np.arange(len(self.rows))
            return
        order = np.argsort(by, kind="stable")
        self.rows = order[::-1] if direction == Qt.SortOrder.DescendingOrder else order

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's
        return 0 if parent.isValid() else len(self.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal or section >= len(self.columns):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return t(self.columns[section].head)
        if role == Qt.ItemDataRole.ToolTipRole and (hint := self.columns[section].hint):
            return t(hint)
        return self._alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row, column = int(self.rows[index.row()]), self.columns[index.column()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return single_line(column.text(row))
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip((column.tip or column.text)(row)[:LONGEST_TIP])
        if role == Qt.ItemDataRole.ForegroundRole:
            return theme.color(column.token)
        return self._alignment(index.column()) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() == self.edited else flags

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.EditRole or self.keep is None or index.row() >= len(self.rows):
            return False
        self.keep(int(self.rows[index.row()]), str(value))
        return True

    def _alignment(self, column: int) -> Qt.AlignmentFlag:
        return RIGHT if self.columns[column].is_number else LEFT


def single_line(text: str) -> str:
    """Replace newlines, which would hide the rest of a name."""
    return " ".join(text[:LONGEST].split("\n"))
