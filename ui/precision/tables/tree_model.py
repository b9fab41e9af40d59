"""The modules of both sides in one tree: a row is a call of both, or of one with an empty cell on the other side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from backends.precision.compare.comparison import EQUAL, FIRST
from backends.precision.dump.names import name_of
from studio.texts import t
from ui.precision.row_text import format_call_error, golden_name, has_golden, has_target
from ui.precision.verdict_mark import VERDICT_HINTS, VERDICT_TOKENS, verdict_word
from ui.widgets import theme
from ui.widgets.plain_tip import plain_tip

if TYPE_CHECKING:
    from backends.precision.compare.comparison import Comparison
    from ui.precision.tables.tree_nodes import CallNodes

    Index = QModelIndex | QPersistentModelIndex

TARGET, GOLDEN, ERROR_COLUMN, VERDICT = range(4)
HEADS = (
    "precision.view.tree_target", "precision.view.tree_golden", "precision.view.column_error",
    "precision.view.column_verdict",
)  # fmt: skip
DEPTH, WORST, STATE = (Qt.ItemDataRole.UserRole + number for number in range(1, 4))
"""Roles: the depth, the worst verdict inside, and whether it is "open", "closed" or a "leaf"."""


class TreeModel(QAbstractTableModel):
    def __init__(self) -> None:
        super().__init__()
        self.comparison: Comparison | None = None
        self.nodes: CallNodes | None = None
        self._modules_with_first: frozenset[int] = frozenset()

    def show_comparison(self, comparison: Comparison, nodes: CallNodes) -> None:
        self.beginResetModel()
        self.comparison, self.nodes = comparison, nodes
        first = comparison.first.call if comparison.first is not None else -1
        self._modules_with_first = frozenset(nodes.ancestors(first)) if first >= 0 else frozenset()
        self.endResetModel()

    def node(self, row: int) -> int:
        assert self.nodes is not None
        return int(self.nodes.visible[row])

    def set_open(self, row: int, is_open: bool) -> None:
        nodes = self.nodes
        if nodes is None or is_open == nodes.is_open(row):
            return
        count = nodes.count_opened(row) if is_open else nodes.count_below(row)
        if count and is_open:
            self.beginInsertRows(QModelIndex(), row + 1, row + count)
            nodes.open(row)
            self.endInsertRows()
        elif count:
            self.beginRemoveRows(QModelIndex(), row + 1, row + count)
            nodes.close(row)
            self.endRemoveRows()
        self.dataChanged.emit(self.index(row, 0), self.index(row, 0))

    def reveal(self, node: int) -> int:
        """Open what the node is in and return its row."""
        assert self.nodes is not None
        for above in self.nodes.ancestors(node):
            if (row := self.nodes.row_of(above)) >= 0:
                self.set_open(row, True)
        return self.nodes.row_of(node)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's
        return 0 if parent.isValid() or self.nodes is None else len(self.nodes.visible)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's
        return 0 if parent.isValid() else len(HEADS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole and section == ERROR_COLUMN:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return t(HEADS[section]) if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if self.nodes is None or self.comparison is None or not 0 <= index.row() < len(self.nodes.visible):
            return None
        node = self.node(index.row())
        if role in (DEPTH, WORST, STATE):
            return self._shape(index.row(), node, role)
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(node, index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(self._hint(node, index.column()))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{self._text(node, index.column())}, {verdict_word(int(self.nodes.worst[node]))}"
        if role == Qt.ItemDataRole.ForegroundRole:
            return theme.color(self._token(node, index.column()))
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() == ERROR_COLUMN:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        is_name = index.column() in (TARGET, GOLDEN) and node < self.nodes.calls
        return theme.mono_font(12) if role == Qt.ItemDataRole.FontRole and is_name else None

    def _shape(self, row: int, node: int, role: int) -> int | str:
        assert self.nodes is not None
        if role == DEPTH:
            return int(self.nodes.depths[row])
        if role == WORST:
            return FIRST if node in self._modules_with_first else int(self.nodes.worst[node])
        return "open" if self.nodes.is_open(row) else "closed" if self.nodes.child_count(node) else "leaf"

    def _text(self, node: int, column: int) -> str:
        assert self.nodes is not None
        assert self.comparison is not None
        if node >= self.nodes.calls:
            return self._head(node) if column == TARGET else ""
        comparison = self.comparison
        if column == TARGET:
            return (
                self._name(node, comparison.names[node])
                if has_target(comparison, node)
                else t("precision.view.not_there")
            )
        if column == GOLDEN:
            name = golden_name(comparison, node)
            return self._name(node, name) if has_golden(comparison, node) else t("precision.view.not_there")
        return format_call_error(comparison, node) if column == ERROR_COLUMN else self._verdict(node)

    def _name(self, node: int, name: str) -> str:
        """Return the name without that of the module above it."""
        assert self.comparison is not None
        above = int(self.comparison.parent[node])
        return short_name(name, self.comparison.names[above] if above >= 0 else "")

    def _verdict(self, node: int) -> str:
        """Return the verdict of a call; a module that contains the first divergence says so, as its mark does."""
        assert self.comparison is not None
        own = int(self.comparison.call_verdict[node])
        return t("precision.view.holds_first") if node in self._modules_with_first else verdict_word(own)

    def _head(self, node: int) -> str:
        assert self.nodes is not None
        assert self.comparison is not None
        number, is_backward = self.nodes.heading_of(node) or (0, None)
        dump_pass = self.comparison.passes[number]
        if is_backward is None:
            return t("precision.view.pass", step=dump_pass.step, rank=dump_pass.rank)
        return t("precision.view.backward") if is_backward else t("precision.view.forward")

    def _hint(self, node: int, column: int) -> str:
        assert self.nodes is not None
        assert self.comparison is not None
        if node >= self.nodes.calls or column == ERROR_COLUMN:
            return self._text(node, column)
        if column == VERDICT:
            return t(VERDICT_HINTS[self.comparison.call_verdict[node]])
        return golden_name(self.comparison, node) if column == GOLDEN else self.comparison.names[node]

    def _token(self, node: int, column: int) -> str:
        assert self.nodes is not None
        assert self.comparison is not None
        if node >= self.nodes.calls:
            return "dim"
        if column == VERDICT:
            return VERDICT_TOKENS[FIRST if node in self._modules_with_first else self.comparison.call_verdict[node]]
        has_side = has_target if column == TARGET else has_golden
        if column in (TARGET, GOLDEN) and not has_side(self.comparison, node):
            return "faint"
        return "dim" if self.nodes.worst[node] == EQUAL and column == GOLDEN else "text"


def short_name(name: str, above: str = "") -> str:
    """Return 'norm1 · LayerNorm' for a module in '1', else 'Functional.linear.6'; the direction is in the heading
    above."""
    parts = name_of(name)
    number = f" · {parts.number}" if parts.number and parts.type else ""
    own = parts.api.removeprefix(f"{name_of(above).api}.") if above else parts.api
    text = f"{own} · {parts.type}{number}" if parts.type else f"{parts.kind}.{parts.api}.{parts.number}"
    if parts.direction == "parameters_grad":
        text = " · ".join((text, t("precision.view.gradients")))
    return " ".join(text.split("\n"))
