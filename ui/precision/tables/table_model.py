"""All rows of a comparison in a table that builds only the texts that it paints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from backends.precision.compare.comparison import MEASURES, NO_RESULT
from studio.texts import t
from ui.precision import row_text
from ui.precision.tables.row_order import COLUMNS, RowOrder, RowQuery
from ui.precision.verdict_mark import VERDICT_HINTS, VERDICT_TOKENS, mark_icon, verdict_word
from ui.widgets import theme
from ui.widgets.plain_tip import plain_tip

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PySide6.QtGui import QFont

    from backends.precision.compare.comparison import Comparison

    Index = QModelIndex | QPersistentModelIndex

HEADS = {
    "number": "precision.view.column_number", "name": "precision.view.column_name",
    "place": "precision.view.column_place", "error": "precision.view.column_error",
    "limit": "precision.view.column_limit", "verdict": "precision.view.column_verdict",
    "dtype": "precision.view.column_dtype", "shape": "precision.view.column_shape",
    "msprobe": "precision.view.column_msprobe", "max_abs": "precision.view.column_max_abs",
    "max_rel": "precision.view.column_max_rel", "mean_abs": "precision.view.column_mean_abs",
    "mean_rel": "precision.view.column_mean_rel", "l2_rel": "precision.view.column_l2_rel",
    "cosine": "precision.view.column_cosine", "ulp": "precision.view.column_ulp",
    "under_1e3": "precision.view.column_under_1e3", "under_5e3": "precision.view.column_under_5e3",
}  # fmt: skip
HINTS = {
    "number": "precision.view.column_number_hint", "name": "precision.view.column_name_hint",
    "place": "precision.view.column_place_hint", "error": "precision.view.column_error_hint",
    "limit": "precision.view.column_limit_hint", "verdict": "precision.view.column_verdict_hint",
    "dtype": "precision.view.column_dtype_hint", "shape": "precision.view.column_shape_hint",
    "msprobe": "precision.view.column_msprobe_hint", "max_abs": "precision.view.column_max_abs_hint",
    "max_rel": "precision.view.column_max_rel_hint", "mean_abs": "precision.view.column_mean_abs_hint",
    "mean_rel": "precision.view.column_mean_rel_hint", "l2_rel": "precision.view.column_l2_rel_hint",
    "cosine": "precision.view.column_cosine_hint", "ulp": "precision.view.column_ulp_hint",
    "under_1e3": "precision.view.column_under_1e3_hint", "under_5e3": "precision.view.column_under_5e3_hint",
}  # fmt: skip
TEXTS = frozenset(("name", "place", "verdict", "dtype", "msprobe"))
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


GROUP = Qt.ItemDataRole.UserRole + 1
"""Role of a group's head: the name of its module, in every column; None in other rows."""


def columns_of(comparison: Comparison) -> tuple[str, ...]:
    """Return the columns; msprobe's result and the measures only where a comparison has them."""
    measures = MEASURES if len(comparison.measures) else ()
    has_results = bool((comparison.msprobe != NO_RESULT).any())
    return (*(column for column in COLUMNS if has_results or column != "msprobe"), *measures)


class RowTableModel(QAbstractTableModel):
    """`rows` are indices into the comparison in the order shown; below 0 the head of a group, as `RowOrder.arrange`
    says."""

    def __init__(self) -> None:
        super().__init__()
        self.order: RowOrder | None = None
        self.query = RowQuery()
        self.rows: NDArray[np.int64] = np.empty(0, np.int64)
        self.columns: tuple[str, ...] = COLUMNS
        self._mono = theme.mono_font(12)

    def show_order(self, order: RowOrder) -> None:
        """Show another comparison."""
        self.beginResetModel()
        self.order = order
        self.columns = columns_of(order.comparison)
        self.rows = order.arrange(self.query)
        self.endResetModel()

    def show_query(self, query: RowQuery) -> None:
        self.beginResetModel()
        self.query = query
        if self.order is not None:
            self.rows = self.order.arrange(query)
        self.endResetModel()

    def position_of(self, row: int) -> int:
        """Return the position of a row of the comparison in the list, -1 where it is not listed."""
        positions = np.flatnonzero(self.rows == row)
        return int(positions[0]) if len(positions) else -1

    def listed_count(self) -> int:
        """Return how many rows are listed, without the heads of groups."""
        return int(np.count_nonzero(self.rows >= 0))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's
        return 0 if parent.isValid() else len(self.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal or section >= len(self.columns):
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return t(HEADS[column])
        if role == Qt.ItemDataRole.ToolTipRole:
            return t(HINTS[column])
        return _alignment(column) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if self.order is None or not 0 <= index.row() < len(self.rows):
            return None
        row, column = int(self.rows[index.row()]), self.columns[index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if row < 0:
            return self._group_data(-2 - row, column, role)
        return _row_data(self.order.comparison, row, column, role, self._mono)

    def _group_data(self, module: int, column: str, role: int) -> Any:
        """Return the data of the line above the rows of a module."""
        if column == "name" and role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            assert self.order is not None
            name = self.order.comparison.names[module] if module >= 0 else t("precision.view.no_module")
            return plain_tip(name) if role == Qt.ItemDataRole.ToolTipRole else name
        if role == GROUP:
            return self._group_data(module, "name", Qt.ItemDataRole.DisplayRole)
        return None


def _row_data(comparison: Comparison, row: int, column: str, role: int, mono: QFont) -> Any:
    if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
        is_verdict = column == "verdict"
        return verdict_word(int(comparison.verdict[row])) if is_verdict else row_text.cell_text(comparison, row, column)
    if role == Qt.ItemDataRole.ForegroundRole:
        return theme.color(_token(comparison, row, column))
    if role == Qt.ItemDataRole.FontRole:
        return mono if column == "name" else None
    if role == Qt.ItemDataRole.DecorationRole:
        return mark_icon(int(comparison.verdict[row])) if column == "verdict" else None
    if role == Qt.ItemDataRole.ToolTipRole:
        if column == "verdict":
            return t(VERDICT_HINTS[comparison.verdict[row]])
        return plain_tip(row_text.cell_text(comparison, row, column))
    return None


def _token(comparison: Comparison, row: int, column: str) -> str:
    if column == "verdict":
        return VERDICT_TOKENS[comparison.verdict[row]]
    if column == "msprobe":
        return row_text.RESULT_TOKENS[int(comparison.msprobe[row])]
    return "dim" if column in ("number", "limit") else "text"


def _alignment(column: str) -> Qt.AlignmentFlag:
    return LEFT if column in TEXTS else RIGHT
