"""The rows of a diff as a list model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt

from studio.texts import t
from ui.migration.changes.diff_rows import DiffRow, diff_rows
from ui.migration.changes.plan import PlanDecisions

if TYPE_CHECKING:
    from backends.migration.migrate.changes import FileChanges, Hunk

    Index = QModelIndex | QPersistentModelIndex

LINE_SIGNS = {"removed": "-", "added": "+", "same": " "}


class DiffModel(QAbstractListModel):
    """`titles`: what each hunk is about, by its id."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[DiffRow] = []
        self.decisions = PlanDecisions()
        self.titles: dict[str, str] = {}

    def show_files(
        self, files: tuple[FileChanges, ...], decisions: PlanDecisions, lines: dict[str, tuple[str, ...]]
    ) -> None:
        self.beginResetModel()
        self.decisions = decisions
        self.rows = diff_rows(files, decisions, lines)
        self.endResetModel()

    def title_of(self, hunk: Hunk) -> str:
        return self.titles.get(hunk.id, "")

    def row_of(self, id: str) -> int:
        """Return the row of a hunk's head, or -1."""
        heads = (at for at, row in enumerate(self.rows) if row.kind == "hunk" and row.hunk and row.hunk.id == id)
        return next(heads, -1)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.UserRole:
            return row
        if role == Qt.ItemDataRole.CheckStateRole and row.kind == "hunk" and row.hunk:
            return Qt.CheckState.Checked if self.decisions.is_accepted(row.hunk) else Qt.CheckState.Unchecked
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._row_text(row)
        return None

    def _row_text(self, row: DiffRow) -> str:
        if row.kind == "file":
            return row.text
        if row.kind == "hunk" and row.hunk:
            return f"{self.title_of(row.hunk)}, {lines_text(row.hunk.first, row.hunk.last)}"
        return f"{LINE_SIGNS[row.kind]} {row.text}"


def lines_text(first: int, last: int) -> str:
    if last < first:
        return t("migration.changes.new_file")
    key = "migration.changes.line" if first == last else "migration.changes.lines"
    return t(key, first=first, last=last)
