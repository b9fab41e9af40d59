"""The findings that fit what is wanted, for a view that asks only for the rows it paints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt

from ui.migration.names import place_text, rule_text, state_name
from ui.migration.wanted import Wanted, searched, texts_fit
from ui.plain_text import plain_tip

if TYPE_CHECKING:
    from backends.migration.found import Found

    Index = QModelIndex | QPersistentModelIndex

NAMED = Qt.ItemDataRole.UserRole + 1


class FindingModel(QAbstractListModel):
    """`rows`: the findings that fit, in the order of the scan. Filtering 20,000 takes about 10 ms, the first search
    for a text some 100 ms more: what is searched is put together once."""

    def __init__(self) -> None:
        super().__init__()
        self.all: tuple[Found, ...] = ()
        self.rows: list[Found] = []
        self.wanted = Wanted()
        self._searched: list[str] = []
        self._named: frozenset[tuple[str, int]] = frozenset()

    def show_named(self, lines: frozenset[tuple[str, int]]) -> None:
        """(path, line) of each row of the official tool."""
        self._named = lines
        self.dataChanged.emit(self.index(0), self.index(max(0, self.rowCount() - 1)))

    def is_named(self, found: Found) -> bool:
        """The tool reads no notebooks."""
        lines = range(found.line, found.end + 1)
        return found.cell is None and any((found.path, line) in self._named for line in lines)

    def show_findings(self, findings: tuple[Found, ...]) -> None:
        self.all = findings
        self.forget_texts()
        self.want(self.wanted)

    def forget_texts(self) -> None:
        """After a change of language."""
        self._searched = []

    def want(self, wanted: Wanted) -> None:
        self.beginResetModel()
        self.wanted = wanted
        words = wanted.text.lower().split()
        if words and not self._searched:
            self._searched = [searched(found) for found in self.all]
        self.rows = [
            found for number, found in enumerate(self.all)
            if wanted.fits(found) and (not words or texts_fit(self._searched[number], words))
        ]  # fmt: skip
        self.endResetModel()

    def row_of(self, found: Found) -> int:
        """The same place, or -1; after another scan its neighbour lines may have moved it."""
        same = (found.path, found.cell, found.rule, found.text)
        rows = [row for row, one in enumerate(self.rows) if (one.path, one.cell, one.rule, one.text) == same]
        return min(rows, key=lambda row: abs(self.rows[row].line - found.line), default=-1)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        found = self.rows[index.row()]
        if role == Qt.ItemDataRole.UserRole:
            return found
        if role == NAMED:
            return self.is_named(found)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"{place_text(found)}, {state_name(found.state)}, {rule_text(found, 'title')}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(f"{rule_text(found, 'title')}\n{place_text(found)}")
        return None
