"""Names and values in groups, to be read and copied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QHeaderView

from ui.timeline.panes.list_model import LONGEST_TIP, single_line
from ui.timeline.panes.list_view import CopyView
from ui.widgets import theme
from ui.widgets.plain_tip import plain_tip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QResizeEvent

    Index = QModelIndex | QPersistentModelIndex

MAX_MEASURED = 500
NAME_MARGIN = 26  # px


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A fact with `value` None is the heading of a group, which takes the whole width, as sentences do (`is_wide`)."""

    name: str
    value: str | None = None
    is_wide: bool = False
    is_mono: bool = False
    token: str = "text"


class FactsModel(QAbstractTableModel):
    def __init__(self) -> None:
        super().__init__()
        self.facts: tuple[Fact, ...] = ()

    def show_facts(self, facts: Sequence[Fact]) -> None:
        self.beginResetModel()
        self.facts = tuple(facts)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's
        return 0 if parent.isValid() else len(self.facts)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's
        return 0 if parent.isValid() else 2

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.facts):
            return None
        fact, is_name = self.facts[index.row()], index.column() == 0
        text = fact.name if is_name else fact.value or ""
        if role == Qt.ItemDataRole.DisplayRole:
            return single_line(text)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(text[:LONGEST_TIP])
        if role == Qt.ItemDataRole.ForegroundRole:
            return theme.color(_token(fact, is_name=is_name))
        return _font(fact, is_name=is_name) if role == Qt.ItemDataRole.FontRole else None


def _token(fact: Fact, *, is_name: bool) -> str:
    return "dim" if is_name and fact.value is not None else fact.token


def _font(fact: Fact, *, is_name: bool) -> QFont | None:
    if fact.value is None and not fact.is_wide:
        bold = QFont(theme.text_font())
        bold.setWeight(QFont.Weight.Bold)
        return bold
    return theme.mono_font(12) if fact.is_mono and (fact.is_wide or not is_name) else None


class FactsTable(CopyView):
    """`share`: the largest share of the width for the names."""

    def __init__(self, name: str, key: str, share: float = 0.5) -> None:
        super().__init__(name, key)
        self.facts = FactsModel()
        self.setModel(self.facts)
        self._share, self._names_width = share, 0
        head = self.horizontalHeader()
        head.hide()
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        head.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_names()

    def show_facts(self, facts: Sequence[Fact]) -> None:
        at = self.verticalScrollBar().value() if len(facts) == len(self.facts.facts) else 0
        self.clearSpans()
        self.facts.show_facts(facts)
        for row, fact in enumerate(facts):
            if fact.value is None:
                self.setSpan(row, 0, 1, 2)
        self._names_width = self._width_of_names(facts)
        self._fit_names()
        self.verticalScrollBar().setValue(at)

    def _width_of_names(self, facts: Sequence[Fact]) -> int:
        names = [single_line(fact.name) for fact in facts[:MAX_MEASURED] if fact.value is not None]
        return max(map(self.fontMetrics().horizontalAdvance, names), default=0) + NAME_MARGIN

    def _fit_names(self) -> None:
        self.setColumnWidth(0, min(self._names_width, int(self.viewport().width() * self._share)))

    def value_of(self, name: str) -> str:
        """Return the first value of a name, "" where there is none."""
        return next((fact.value for fact in self.facts.facts if fact.name == name and fact.value is not None), "")
