"""Rows of cells in a view that asks only for those it paints; a click on a head sorts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from studio.texts import t
from ui.widgets import theme
from ui.widgets.localized import localize
from ui.widgets.plain_tip import plain_tip

if TYPE_CHECKING:
    from collections.abc import Sequence

    Index = QModelIndex | QPersistentModelIndex

ROW = 28
HEAD = 46
WIDEST = 220
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, kw_only=True)
class Cell:
    """`order`: by what it is sorted, the text where None; `token`: a colour of the theme; `hint`: its tooltip."""

    text: str
    order: float | None = None
    token: str = "text"
    hint: str = ""
    is_mono: bool = False


class TableModel(QAbstractTableModel):
    """`heads`: keys of the columns' names; those in `numbers` stand at the right."""

    def __init__(self, heads: Sequence[str], numbers: frozenset[int] = frozenset()) -> None:
        super().__init__()
        self._heads = tuple(heads)
        self._numbers = numbers
        self.rows: list[tuple[Cell, ...]] = []

    def show_rows(self, rows: Sequence[tuple[Cell, ...]]) -> None:
        self.beginResetModel()
        self.rows = list(rows)
        self.endResetModel()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        if not 0 <= column < len(self._heads):
            return
        self.layoutAboutToBeChanged.emit()
        down = order == Qt.SortOrder.DescendingOrder
        self.rows.sort(key=lambda row: _order(row[column]), reverse=down)
        self.layoutChanged.emit()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's
        return 0 if parent.isValid() else len(self._heads)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return t(self._heads[section])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return RIGHT if section in self._numbers else LEFT
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        cell = self.rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return cell.text
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(cell.hint or cell.text)
        if role == Qt.ItemDataRole.ForegroundRole:
            return theme.color(cell.token)
        if role == Qt.ItemDataRole.FontRole and cell.is_mono:
            return theme.mono_font(12)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return RIGHT if index.column() in self._numbers else LEFT
        return None


def _order(cell: Cell) -> tuple[float, str]:
    return (0.0, cell.text.lower()) if cell.order is None else (cell.order, cell.text.lower())


def fit_height(view: QTableView, highest: int) -> None:
    """As high as its rows, at most `highest`."""
    view.setFixedHeight(min(highest, HEAD + ROW * max(1, view.model().rowCount())))


def table_view(model: TableModel, name: str, key: str, *stretched: int) -> QTableView:
    """`name` for tests; `key`: what it holds, for those who hear it read; `stretched`: the columns that take the
    room."""
    view = QTableView()
    view.setObjectName(name)
    view.setModel(model)
    view.setFrameShape(QTableView.Shape.NoFrame)
    view.setStyleSheet(
        "QTableView, QTableView:focus { border: none; border-radius: 0; } QHeaderView::section { padding: 6px 11px; }"
    )
    view.setTextElideMode(Qt.TextElideMode.ElideLeft)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    view.setShowGrid(False)
    view.setWordWrap(False)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.verticalHeader().hide()
    view.verticalHeader().setDefaultSectionSize(ROW)
    head = view.horizontalHeader()
    head.setHighlightSections(False)
    head.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    for column in stretched:
        head.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
    head.setMaximumSectionSize(WIDEST)
    head.setResizeContentsPrecision(200)
    head.setSortIndicatorShown(False)
    head.setSectionsClickable(True)
    view.setSortingEnabled(False)
    sorting = _Sorting(view)
    head.sectionClicked.connect(sorting.sort)
    localize(view.setAccessibleName, key)
    return view


class _Sorting:
    """The same head again turns the order round."""

    def __init__(self, view: QTableView) -> None:
        self._view = view
        self._last = (-1, Qt.SortOrder.AscendingOrder)

    def sort(self, column: int) -> None:
        up, down = Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder
        order = down if self._last == (column, up) else up
        self._last = (column, order)
        self._view.model().sort(column, order)
