"""The files with findings as a list model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt

from studio.texts import t
from ui.widgets.plain_tip import plain_tip

if TYPE_CHECKING:
    from backends.migration.scan.overview import FileHeat

    Index = QModelIndex | QPersistentModelIndex


class FileModel(QAbstractListModel):
    """Row 0 stands for all files; its path is ''."""

    def __init__(self) -> None:
        super().__init__()
        self.files: tuple[FileHeat, ...] = ()
        self.max_effort = 1

    def show_files(self, files: tuple[FileHeat, ...]) -> None:
        self.beginResetModel()
        self.files = files
        self.max_effort = max((file.effort for file in files), default=1) or 1
        self.endResetModel()

    def path_of(self, row: int) -> str:
        return self.files[row - 1].path if 0 < row <= len(self.files) else ""

    def row_of(self, path: str) -> int:
        return next((row for row, file in enumerate(self.files, 1) if file.path == path), 0)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's
        return 0 if parent.isValid() or not self.files else len(self.files) + 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() > len(self.files):
            return None
        file = self.files[index.row() - 1] if index.row() else None
        if role == Qt.ItemDataRole.UserRole:
            return file
        if role == Qt.ItemDataRole.DisplayRole:
            return file.path if file else t("migration.all_files", n=len(self.files))
        if role == Qt.ItemDataRole.ToolTipRole and file:
            total = sum(file.places.values())
            hint = t("migration.file_hint", path=file.path, places=total, effort=file.effort, advice=file.advice)
            return plain_tip(hint)
        return None
