"""List views for many rows: only what is seen is painted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelectionModel
from PySide6.QtWidgets import QListView

from ui.say import say

if TYPE_CHECKING:
    from PySide6.QtCore import QAbstractListModel
    from PySide6.QtWidgets import QStyledItemDelegate


def list_view(model: QAbstractListModel, delegate: QStyledItemDelegate, name: str, key: str) -> QListView:
    """`name` for tests, `key` the text of what it holds, for those who hear it read."""
    view = QListView()
    view.setObjectName(name)
    view.setFrameShape(QListView.Shape.NoFrame)
    view.setStyleSheet("QListView, QListView:focus { border: none; border-radius: 0; }")
    view.setModel(model)
    delegate.setParent(view)
    view.setItemDelegate(delegate)
    view.setMouseTracking(True)
    view.setUniformItemSizes(True)
    view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
    view.setHorizontalScrollMode(QListView.ScrollMode.ScrollPerPixel)
    say(view, "setAccessibleName", key)
    return view


def select_row(view: QListView, row: int) -> None:
    """Without a signal: what is shown knows already."""
    selection = view.selectionModel()
    if 0 <= row < view.model().rowCount():
        selection.blockSignals(True)
        index = view.model().index(row, 0)
        selection.setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        selection.blockSignals(False)
        view.scrollTo(index)
    view.viewport().update()
