"""The runs of the list, newest first, each with a tick for those that are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from studio.units import duration
from ui.services.run_titles import state_name, title_of, when
from ui.widgets.plain_tip import plain_tip

if TYPE_CHECKING:
    from studio.run import Glance, Run

    Index = QModelIndex | QPersistentModelIndex

MAX_TICKED = 7


class RunModel(QAbstractListModel):
    """`colors`: by name of a run, the number of its colour. The chosen run is always drawn."""

    ticked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.listed: list[tuple[Run, Glance]] = []
        self.colors: dict[str, int] = {}
        self.chosen = ""

    def show_runs(self, listed: list[tuple[Run, Glance]]) -> None:
        """Changes only what differs, so that selection and scrolling stay."""
        old, new = [run.name for run, _ in self.listed], [run.name for run, _ in listed]
        if old == new:
            self.listed = listed
            self.dataChanged.emit(self.index(0), self.index(len(listed) - 1))
        elif new[len(new) - len(old) :] == old:
            self.beginInsertRows(QModelIndex(), 0, len(new) - len(old) - 1)
            self.listed = listed
            self.endInsertRows()
        else:
            self.beginResetModel()
            self.listed = listed
            self.endResetModel()

    def choose(self, name: str) -> None:
        """Makes a run the chosen one. It keeps the colour it has; the one before keeps no tick of its own."""
        if name == self.chosen:
            return
        if len(self.colors) == 1 or name not in self.colors:
            self.colors.pop(self.chosen, None)
        self.chosen = name
        if name:
            self._give_color(name)
        self._emit_changed()

    def tick(self, name: str, on: bool) -> None:
        if name == self.chosen or on == (name in self.colors) or (on and len(self.colors) >= MAX_TICKED):
            return
        if on:
            self._give_color(name)
        else:
            del self.colors[name]
        self._emit_changed()

    def _give_color(self, name: str) -> None:
        if name not in self.colors:
            self.colors[name] = next(n for n in range(len(self.colors) + 1) if n not in self.colors.values())

    def _emit_changed(self) -> None:
        self.dataChanged.emit(self.index(0), self.index(max(0, len(self.listed) - 1)))
        self.ticked.emit()

    def row_of(self, name: str) -> int:
        return next((row for row, (run, _) in enumerate(self.listed) if run.name == name), -1)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's
        return 0 if parent.isValid() else len(self.listed)

    def flags(self, index: Index) -> Qt.ItemFlag:
        return super().flags(index) | Qt.ItemFlag.ItemIsUserCheckable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.listed):
            return None
        run, glance = self.listed[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{title_of(run)}, {state_name(glance)}, {facts_of(run, glance)}"
        if role == Qt.ItemDataRole.CheckStateRole:
            return Qt.CheckState.Checked if run.name in self.colors else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(str(run.folder))
        if role == Qt.ItemDataRole.UserRole:
            return run, glance
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.CheckStateRole or not index.isValid():
            return False
        self.tick(self.listed[index.row()][0].name, Qt.CheckState(value) == Qt.CheckState.Checked)
        return True


def facts_of(run: Run, glance: Glance) -> str:
    """'14:32 · 12.3 s'."""
    lasted = duration(max(0.0, (glance.ended - glance.begun) / 1e9)) if glance.ended else ""
    return " · ".join(filter(None, (when(run), lasted)))
