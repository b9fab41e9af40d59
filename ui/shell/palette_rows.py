"""What the command palette lists: entries, how they are found, and how a row of them is painted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from ui.shell.fuzzy_search import best
from ui.widgets import theme
from ui.widgets.icons import pixmap

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QFontMetrics, QPainter

    Index = QModelIndex | QPersistentModelIndex

ROW = 34


@dataclass(frozen=True, kw_only=True)
class Entry:
    """`names`: what it is found by. `detail` is shown at the right: a shortcut, a kind, a time."""

    title: str
    names: tuple[str, ...]
    do: Callable[[], object]
    icon: str = ""
    detail: str = ""


def ranked(typed: str, entries: list[Entry]) -> list[Entry]:
    """The entries that fit, best first; as they come where nothing was typed."""
    scored = [(value, entry) for entry in entries if (value := best(typed, entry.names)) is not None]
    return [entry for _, entry in sorted(scored, key=lambda pair: -pair[0])]


class MatchList(QAbstractListModel):
    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._entries: list[Entry] = []

    def show_entries(self, entries: list[Entry]) -> None:
        self.beginResetModel()
        self._entries = entries
        self.endResetModel()

    def entry(self, row: int) -> Entry | None:
        return self._entries[row] if 0 <= row < len(self._entries) else None

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._entries)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return self._entries[index.row()].title
        return self._entries[index.row()] if role == Qt.ItemDataRole.UserRole else None


class MatchDelegate(QStyledItemDelegate):
    """An icon, a title, and at the right a dim detail."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(100, ROW)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        entry: Entry = index.data(Qt.ItemDataRole.UserRole)
        area: QRect = option.rect
        painter.save()
        if option.state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            chosen = bool(option.state & QStyle.StateFlag.State_Selected)
            painter.fillRect(area, theme.color("selected" if chosen else "page"))
        if entry.icon:
            painter.drawPixmap(area.left() + 10, area.center().y() - 8, pixmap(entry.icon, "dim", 18))
        metrics: QFontMetrics = option.fontMetrics
        detail = metrics.elidedText(entry.detail, Qt.TextElideMode.ElideRight, area.width() // 2)
        right = area.adjusted(0, 0, -12, 0)
        painter.setPen(theme.color("dim"))
        painter.drawText(right, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), detail)
        left = area.adjusted(40, 0, -24 - metrics.horizontalAdvance(detail), 0)
        title = metrics.elidedText(entry.title, Qt.TextElideMode.ElideRight, left.width())
        painter.setPen(theme.color("text"))
        painter.drawText(left, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), title)
        painter.restore()
