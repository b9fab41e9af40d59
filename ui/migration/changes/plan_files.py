"""The files of a plan as a list, with how many hunks of each are accepted."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from studio.texts import t
from ui.migration.changes.plan import PlanDecisions
from ui.migration.row_painting import draw_elided, paint_background
from ui.widgets import theme
from ui.widgets.plain_tip import plain_tip

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

    from backends.migration.migrate.changes import FileChanges

    Index = QModelIndex | QPersistentModelIndex

HEIGHT = 32
LEFT = 14


class PlanFileModel(QAbstractListModel):
    """Row 0 stands for all files."""

    def __init__(self) -> None:
        super().__init__()
        self.files: tuple[FileChanges, ...] = ()
        self._decisions = PlanDecisions()

    def show_files(self, files: tuple[FileChanges, ...], decisions: PlanDecisions) -> None:
        """Show these files; the selection stays where only decisions changed."""
        self._decisions = decisions
        if files is self.files:
            self.dataChanged.emit(self.index(0), self.index(max(0, self.rowCount() - 1)))
            return
        self.beginResetModel()
        self.files = files
        self.endResetModel()

    def files_at(self, row: int) -> tuple[FileChanges, ...]:
        """Return the file of a row, or all files for row 0."""
        return (self.files[row - 1],) if 0 < row <= len(self.files) else self.files

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's
        return 0 if parent.isValid() or not self.files else len(self.files) + 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() > len(self.files):
            return None
        file = self.files[index.row() - 1] if index.row() else None
        if role == Qt.ItemDataRole.DisplayRole:
            return file.path if file else t("migration.all_files", n=len(self.files))
        if role == Qt.ItemDataRole.ToolTipRole and file:
            return plain_tip(f"{file.path}\n{t(file.withdrawn)}" if file.withdrawn else file.path)
        if role == Qt.ItemDataRole.UserRole:
            return file, self.count_text(file)
        return None

    def count_text(self, file: FileChanges | None) -> str:
        """Return '3/5': three of five hunks that have an edit are accepted."""
        hunks = [hunk for plan_file in ((file,) if file else self.files) for hunk in plan_file.hunks]
        offered = [hunk for hunk in hunks if not self._decisions.is_manual(hunk)]
        return f"{sum(map(self._decisions.is_accepted, offered))}/{len(offered)}"


class PlanFileDelegate(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        file, count = index.data(Qt.ItemDataRole.UserRole)
        painter.save()
        paint_background(painter, option)
        painter.setFont(option.font)
        inside = option.rect.adjusted(LEFT, 0, -10, 0)
        painter.setPen(theme.color("dim"))
        painter.drawText(inside, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, count)
        count_width = painter.fontMetrics().horizontalAdvance(count) + 8
        painter.setPen(theme.color("text"))
        text = PurePosixPath(file.path).name if file else index.data()
        draw_elided(painter, inside.adjusted(0, 0, -count_width, 0), text, Qt.TextElideMode.ElideMiddle)
        painter.restore()
