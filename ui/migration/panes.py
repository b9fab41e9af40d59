"""Panes of a view: a card whose content reaches its edges, and lists that paint only visible rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelectionModel
from PySide6.QtWidgets import QFrame, QHBoxLayout, QListView, QVBoxLayout

from ui.widgets.localized import localize

if TYPE_CHECKING:
    from PySide6.QtCore import QAbstractListModel
    from PySide6.QtWidgets import QLabel, QStyledItemDelegate, QWidget


def edge_card(title: QLabel, *parts: QWidget) -> QFrame:
    """Return a bordered card with a title and parts that reach its edges; the last part takes the remaining height."""
    card = QFrame()
    card.setProperty("role", "card")
    head = QHBoxLayout()
    head.setContentsMargins(14, 0, 10, 0)
    head.addWidget(title)
    column = QVBoxLayout(card)
    column.setContentsMargins(1, 10, 1, 1)
    column.setSpacing(8)
    column.addLayout(head)
    for part in parts:
        column.addWidget(part, 1 if part is parts[-1] else 0)
    return card


def list_view(model: QAbstractListModel, delegate: QStyledItemDelegate, name: str, key: str) -> QListView:
    """Return a list view. `name`: for tests; `key`: the text that screen readers announce."""
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
    localize(view.setAccessibleName, key)
    return view


def select_row(view: QListView, row: int) -> None:
    """Select a row without a signal, for callers that show its content themselves."""
    selection = view.selectionModel()
    if 0 <= row < view.model().rowCount():
        selection.blockSignals(True)
        index = view.model().index(row, 0)
        selection.setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        selection.blockSignals(False)
        view.scrollTo(index)
    view.viewport().update()
