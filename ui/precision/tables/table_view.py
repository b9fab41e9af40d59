"""All rows: filtered, sorted, grouped, and linked with the selection."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QItemSelectionModel, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStackedWidget,
    QStyledItemDelegate,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from studio.texts import t
from ui.precision.row_text import format_count
from ui.precision.tables.table_filter import TableFilter, VerdictFilter
from ui.precision.tables.table_model import GROUP, HEADS, RowTableModel
from ui.precision.verdict_mark import VERDICT_WORDS
from ui.services.background import run_in_background
from ui.widgets import theme
from ui.widgets.basic import Empty
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from PySide6.QtCore import QModelIndex
    from PySide6.QtGui import QPainter, QResizeEvent
    from PySide6.QtWidgets import QStyleOptionViewItem

    from ui.precision.comparison.selection import Selection
    from ui.precision.tables.row_order import RowOrder, RowQuery
    from ui.precision.tables.table_model import Index

ROW = 26
MIN_NAME_WIDTH = 214
WIDTHS = {"place": 104, "dtype": 104, "shape": 86, "msprobe": 74, "number": 52}
NUMBER_WIDTH = 78
BAR = 14
PREPARE_DELAY = 300
INDENT = 14
MAX_GROUP_WIDTH = 4000


class TableView(QWidget):
    """`verdicts` are the buttons that filter by verdict; the owner places them."""

    def __init__(self, selection: Selection) -> None:
        super().__init__()
        self._selection = selection
        self.model = RowTableModel()
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
        self._prepare_timer = QTimer(self)
        self._prepare_timer.setSingleShot(True)
        self._prepare_timer.timeout.connect(self._prepare)
        self._connect()

    def _connect(self) -> None:
        self.filter.changed.connect(self._apply_query)
        self.filter.all.clicked.connect(self._clear_verdicts)
        self.verdicts.changed.connect(self._apply_query)
        self.view.selectionModel().currentRowChanged.connect(self._select_call)
        self.view.horizontalHeader().sectionClicked.connect(self._sort)
        self._selection.changed.connect(self._follow)
        theme.notifier().changed.connect(self.view.viewport().update)

    def show_order(self, order: RowOrder) -> None:
        """Show another comparison; the filters stay."""
        self.filter.show_dtypes(_dtypes(order))
        self.model.show_order(order)
        self.verdicts.show_counts(order.counts())
        _lay_out(self.view)
        self._prepare_timer.start(PREPARE_DELAY)
        self._apply_query()

    def _prepare(self) -> None:
        """Build the search text after the first paint, which this Python work would otherwise delay."""
        if self.model.order is not None:
            run_in_background(self, self.model.order.prepare, lambda _nothing: None)

    def query(self) -> RowQuery:
        return replace(self.filter.fill_query(self.model.query), verdicts=self.verdicts.verdicts())

    def focus_search(self) -> None:
        self.filter.text.setFocus()
        self.filter.text.selectAll()

    def _apply_query(self) -> None:
        if self.model.order is None:
            return
        self._with_signals_off(partial(self.model.show_query, self.query()))
        self._stack.setCurrentIndex(0 if len(self.model.rows) else 1)
        query = self.model.query
        self.filter.show_cleared(not (query.text or query.verdicts or query.dtype or query.role is not None))
        self._show_count()
        self._follow()

    def _clear_verdicts(self) -> None:
        self.verdicts.clear()
        self._apply_query()

    def _sort(self, section: int) -> None:
        """Sort by a column, the largest numbers first; a second click reverses the order, a third restores the
        execution order."""
        column, query = self.model.columns[section], self.model.query
        falls_first = column not in ("name", "place", "dtype", "verdict", "number")
        is_same = query.sort == column
        if is_same and query.descending != falls_first:
            column, descending = "number", False
        else:
            descending = not query.descending if is_same else falls_first
        self.model.query = replace(query, sort=column, descending=descending)
        self._apply_query()
        self._show_sorting()
        self.view.scrollToTop()

    def _show_sorting(self) -> None:
        query, head = self.model.query, self.view.horizontalHeader()
        order = Qt.SortOrder.DescendingOrder if query.descending else Qt.SortOrder.AscendingOrder
        head.setSortIndicatorShown(query.sort != "number" or query.descending)
        head.setSortIndicator(self.model.columns.index(query.sort), order)

    def _select_call(self, now: QModelIndex, _before: QModelIndex) -> None:
        if self.model.order is None or not now.isValid():
            return
        row = int(self.model.rows[now.row()])
        if row >= 0:
            self._selection.select(int(self.model.order.comparison.call[row]), row)
        elif row < -1:
            self._selection.select(-2 - row)

    def _follow(self) -> None:
        """Select what is selected elsewhere, if it is listed."""
        order = self.model.order
        if order is None or self._selection.call < 0:
            return
        position = self.model.position_of(self._selection.row)
        if position < 0 or self._selection.row < 0:
            position = _worst_listed(self.model, self._selection.call)
        if position >= 0 and position != self.view.currentIndex().row():
            self._with_signals_off(partial(self._select_position, position))
        elif position < 0:
            self.view.selectionModel().clearSelection()

    def _select_position(self, position: int) -> None:
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
        index = self.model.index(position, max(0, self.view.currentIndex().column()))
        self.view.selectionModel().setCurrentIndex(index, flags)
        is_visible = self.view.viewport().rect().contains(self.view.visualRect(index).center())
        hint = QAbstractItemView.ScrollHint
        self.view.scrollTo(self.model.index(position, 0), hint.EnsureVisible if is_visible else hint.PositionAtCenter)

    def _with_signals_off(self, do: partial[None]) -> None:
        """Run `do` without emitting a selection that only follows another."""
        self.view.selectionModel().currentRowChanged.disconnect(self._select_call)
        do()
        self.view.selectionModel().currentRowChanged.connect(self._select_call)

    def _show_count(self) -> None:
        order = self.model.order
        if order is not None:
            listed = self.model.listed_count()
            key = "precision.view.rows" if listed == order.count else "precision.view.rows_of"
            self.filter.count.setText(t(key, shown=format_count(listed), n=format_count(order.count)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        _fit_name(self.view)

    def retranslate(self) -> None:
        self.model.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, max(0, len(self.model.columns) - 1))
        _lay_out(self.view)
        self.view.viewport().update()
        self._show_count()


def _dtypes(order: RowOrder) -> list[str]:
    return [name for name in order.comparison.dtypes if name]


def _worst_listed(model: RowTableModel, call: int) -> int:
    """Return the position of the worst listed row of a call, the first of equals."""
    assert model.order is not None
    comparison = model.order.comparison
    begin, end = comparison.call.searchsorted((call, call + 1))
    listed = np.flatnonzero((model.rows >= begin) & (model.rows < end))
    return int(listed[np.argmin(model.order.key("verdict")[model.rows[listed]])]) if len(listed) else -1


def _view(model: RowTableModel) -> QTableView:
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
    localize(view.setAccessibleName, "precision.view.table")
    return view


def _lay_out(view: QTableView) -> None:
    """Make columns as wide as their heads and usual content; the name takes the rest."""
    head, model = view.horizontalHeader(), view.model()
    assert isinstance(model, RowTableModel)
    metrics = QFontMetrics(head.font())
    for section, column in enumerate(model.columns):
        texts = [t(HEADS[column]), *_sample_texts(model, column)]
        needed = max(metrics.horizontalAdvance(text) for text in texts) + 36
        head.resizeSection(section, max(needed, WIDTHS.get(column, NUMBER_WIDTH)))
        head.setSectionResizeMode(section, QHeaderView.ResizeMode.Interactive)
    _fit_name(view)


def _sample_texts(model: RowTableModel, column: str) -> list[str]:
    """Return texts of a column that hardly any other exceeds in width."""
    if column == "verdict":
        return [f"{t(key)}MM" for key in VERDICT_WORDS]
    return [str(len(model.order.names))] if column == "number" and model.order else []


def _fit_name(view: QTableView) -> None:
    head, model = view.horizontalHeader(), view.model()
    assert isinstance(model, RowTableModel)
    name = model.columns.index("name")
    others = sum(head.sectionSize(section) for section in range(len(model.columns)) if section != name)
    head.resizeSection(name, max(MIN_NAME_WIDTH, view.width() - others - BAR))


class TableDelegate(QStyledItemDelegate):
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        name = index.data(GROUP)
        if name is None:
            super().paint(painter, option, index)
            return
        painter.save()
        painter.setClipRect(option.rect)
        painter.fillRect(option.rect, theme.color("sunken"))
        font = theme.mono_font(12)
        font.setBold(True)
        painter.setFont(font)
        painter.setPen(theme.color("text"))
        # Every cell draws the whole line, clipped to itself.
        view = self.parent()
        left = view.columnViewportPosition(0) if isinstance(view, QTableView) else option.rect.left()
        line = QRect(left + INDENT, option.rect.top(), MAX_GROUP_WIDTH, option.rect.height())
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, " ".join(name.split("\n")))
        painter.restore()
