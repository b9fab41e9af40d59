"""All rows: filtered, sorted, grouped, and linked with what is selected elsewhere."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QItemSelectionModel, QSize, Qt, QTimer
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStackedWidget, QTableView, QVBoxLayout, QWidget

from studio.texts import t
from ui import theme
from ui.asking import ask
from ui.precision.row_text import grouped
from ui.precision.table_delegate import TableDelegate
from ui.precision.table_filter import TableFilter, VerdictFilter
from ui.precision.table_model import HEADS, TableModel
from ui.precision.verdict_mark import WORDS
from ui.say import say
from ui.widgets import Empty

if TYPE_CHECKING:
    from PySide6.QtCore import QModelIndex
    from PySide6.QtGui import QResizeEvent

    from ui.precision.comparison_selection import Selection
    from ui.precision.row_order import RowOrder, Wanted

ROW = 26
LEAST_NAME = 214
WIDTHS = {"place": 104, "dtype": 104, "shape": 86, "msprobe": 74, "number": 52}
NUMBER_WIDTH = 78
BAR = 14
LATER = 300


class TableView(QWidget):
    """`verdicts`: the buttons that filter by verdict, for whoever places them."""

    def __init__(self, selection: Selection) -> None:
        super().__init__()
        self._selection = selection
        self.model = TableModel()
        self.filter, self.verdicts = TableFilter(), VerdictFilter()
        self.view = _view(self.model)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.view)
        nothing = Empty("search", "precision.view.none_fit", "precision.view.none_fit_text")
        self._stack.addWidget(nothing)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 0, 1, 1)
        column.setSpacing(6)
        self.filter.setContentsMargins(11, 0, 11, 0)
        column.addWidget(self.filter)
        column.addWidget(self._stack, 1)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.timeout.connect(self._prepare)
        self._connect()

    def _connect(self) -> None:
        self.filter.changed.connect(self._want)
        self.filter.all.clicked.connect(self._clear_verdicts)
        self.verdicts.changed.connect(self._want)
        self.view.selectionModel().currentRowChanged.connect(self._chosen)
        self.view.horizontalHeader().sectionClicked.connect(self._sort)
        self._selection.changed.connect(self._follow)
        theme.notifier().changed.connect(self.view.viewport().update)

    def show_order(self, order: RowOrder) -> None:
        """Another comparison: what was filtered stays filtered."""
        self.filter.show_dtypes(_dtypes(order))
        self.model.show_order(order)
        self.verdicts.show_counts(order.counts())
        _lay_out(self.view)
        self._later.start(LATER)
        self._want()

    def _prepare(self) -> None:
        """After the first paint: it is Python's work, for which that would have to wait."""
        if self.model.order is not None:
            ask(self, self.model.order.prepare, lambda _nothing: None)

    def wanted(self) -> Wanted:
        return replace(self.filter.filled(self.model.wanted), verdicts=self.verdicts.verdicts())

    def focus_search(self) -> None:
        self.filter.text.setFocus()
        self.filter.text.selectAll()

    def _want(self) -> None:
        if self.model.order is None:
            return
        self._with_signals_off(partial(self.model.want, self.wanted()))
        self._stack.setCurrentIndex(0 if len(self.model.rows) else 1)
        wanted = self.model.wanted
        self.filter.show_cleared(not (wanted.text or wanted.verdicts or wanted.dtype or wanted.role is not None))
        self._say()
        self._follow()

    def _clear_verdicts(self) -> None:
        self.verdicts.clear()
        self._want()

    def _sort(self, section: int) -> None:
        """Numbers begin with the largest; the same head again turns the order round, a third time takes it back."""
        column, wanted = self.model.columns[section], self.model.wanted
        falls_first = column not in ("name", "place", "dtype", "verdict", "number")
        is_same = wanted.sort == column
        if is_same and wanted.descending != falls_first:
            column, descending = "number", False
        else:
            descending = not wanted.descending if is_same else falls_first
        self.model.wanted = replace(wanted, sort=column, descending=descending)
        self._want()
        self._show_sorting()
        self.view.scrollToTop()

    def _show_sorting(self) -> None:
        wanted, head = self.model.wanted, self.view.horizontalHeader()
        order = Qt.SortOrder.DescendingOrder if wanted.descending else Qt.SortOrder.AscendingOrder
        head.setSortIndicatorShown(wanted.sort != "number" or wanted.descending)
        head.setSortIndicator(self.model.columns.index(wanted.sort), order)

    def _chosen(self, now: QModelIndex, _before: QModelIndex) -> None:
        if self.model.order is None or not now.isValid():
            return
        row = int(self.model.rows[now.row()])
        if row >= 0:
            self._selection.select(int(self.model.order.comparison.call[row]), row)
        elif row < -1:
            self._selection.select(-2 - row)

    def _follow(self) -> None:
        """Selects what is selected elsewhere, where it is listed."""
        order = self.model.order
        if order is None or self._selection.call < 0:
            return
        place = self.model.place_of(self._selection.row)
        if place < 0 or self._selection.row < 0:
            place = _first_listed(self.model, self._selection.call)
        if place >= 0 and place != self.view.currentIndex().row():
            self._with_signals_off(partial(self._select_place, place))
        elif place < 0:
            self.view.selectionModel().clearSelection()

    def _select_place(self, place: int) -> None:
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
        index = self.model.index(place, max(0, self.view.currentIndex().column()))
        self.view.selectionModel().setCurrentIndex(index, flags)
        is_seen = self.view.viewport().rect().contains(self.view.visualRect(index).center())
        hint = QAbstractItemView.ScrollHint
        self.view.scrollTo(self.model.index(place, 0), hint.EnsureVisible if is_seen else hint.PositionAtCenter)

    def _with_signals_off(self, do: partial[None]) -> None:
        """A selection that only follows another is not told again."""
        self.view.selectionModel().currentRowChanged.disconnect(self._chosen)
        do()
        self.view.selectionModel().currentRowChanged.connect(self._chosen)

    def _say(self) -> None:
        order = self.model.order
        if order is not None:
            shown = self.model.shown_rows()
            key = "precision.view.rows" if shown == order.count else "precision.view.rows_of"
            self.filter.count.setText(t(key, shown=grouped(shown), n=grouped(order.count)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        _fit_name(self.view)

    def retranslate(self) -> None:
        self.model.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, max(0, len(self.model.columns) - 1))
        _lay_out(self.view)
        self.view.viewport().update()
        self._say()


def _dtypes(order: RowOrder) -> list[str]:
    return [name for name in order.comparison.dtypes if name]


def _first_listed(model: TableModel, call: int) -> int:
    """Of the rows of a call that are listed the worst, of equal ones the first."""
    assert model.order is not None
    found = model.order.comparison
    begin, end = found.call.searchsorted((call, call + 1))
    listed = np.flatnonzero((model.rows >= begin) & (model.rows < end))
    return int(listed[np.argmin(model.order.key("verdict")[model.rows[listed]])]) if len(listed) else -1


def _view(model: TableModel) -> QTableView:
    view = QTableView()
    view.setObjectName("precision_table")
    view.setModel(model)
    view.setItemDelegate(TableDelegate(view))
    view.setFrameShape(QTableView.Shape.NoFrame)
    view.setStyleSheet("QTableView, QTableView:focus { border: none; border-radius: 0; }")
    view.setShowGrid(False)
    view.setWordWrap(False)
    view.setIconSize(QSize(14, 14))
    view.setTextElideMode(Qt.TextElideMode.ElideMiddle)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setCornerButtonEnabled(False)
    view.setTabKeyNavigation(False)
    view.verticalHeader().hide()
    view.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    view.verticalHeader().setDefaultSectionSize(ROW)
    view.horizontalHeader().setHighlightSections(False)
    view.horizontalHeader().setSectionsClickable(True)
    view.horizontalHeader().setMinimumSectionSize(48)
    say(view, "setAccessibleName", "precision.view.table")
    return view


def _lay_out(view: QTableView) -> None:
    """As wide as their heads and what they usually hold; the name takes what is left."""
    head, model = view.horizontalHeader(), view.model()
    assert isinstance(model, TableModel)
    metrics = QFontMetrics(head.font())
    for section, column in enumerate(model.columns):
        texts = [t(HEADS[column]), *_longest(model, column)]
        needed = max(metrics.horizontalAdvance(text) for text in texts) + 36
        head.resizeSection(section, max(needed, WIDTHS.get(column, NUMBER_WIDTH)))
        head.setSectionResizeMode(section, QHeaderView.ResizeMode.Interactive)
    _fit_name(view)


def _longest(model: TableModel, column: str) -> list[str]:
    """Texts of a column that none is much longer than."""
    if column == "verdict":
        return [f"{t(key)}MM" for key in WORDS]
    return [str(len(model.order.names))] if column == "number" and model.order else []


def _fit_name(view: QTableView) -> None:
    head, model = view.horizontalHeader(), view.model()
    assert isinstance(model, TableModel)
    name = model.columns.index("name")
    others = sum(head.sectionSize(section) for section in range(len(model.columns)) if section != name)
    head.resizeSection(name, max(LEAST_NAME, view.width() - others - BAR))
