"""A comparison: the verdict, the plot in execution order, the table, the module tree, and the page of one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from ui.precision.comparison.plot_view import PlotView
from ui.precision.comparison.selection import Selection
from ui.precision.comparison.verdict_card import VerdictCard
from ui.precision.operator.page import OperatorPage
from ui.precision.tables.row_order import RowOrder
from ui.precision.tables.table_view import TableView
from ui.precision.tables.tree_view import TreeView
from ui.precision.verdict_mark import NOTABLE
from ui.services import actions
from ui.widgets.basic import label
from ui.widgets.tabs import Tabs

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from backends.precision.compare.comparison import Comparison
    from studio.run import Run
    from ui.services.session import Session

TABLE, TREE, OPERATOR = range(3)
TABS = ("precision.view.tab_table", "precision.view.tab_tree", "precision.view.tab_operator")
MIN_WIDTH_FOR_PAGE = 900
PAGE_WIDTH = 372


@dataclass(frozen=True, kw_only=True)
class Suspect:
    """A call of a comparison that something is asked about: its name, `index` in the comparison, and its pass."""

    run: Run | None
    call: str
    index: int
    step: int
    rank: int


class ComparisonResultView(QWidget):
    """`match_corrected` carries a CallMatch, `source_requested` a path and a line, the other requests a Suspect."""

    deeper_requested = Signal(object)
    reproducer_requested = Signal(object)
    issue_requested = Signal(object)
    acc_check_requested = Signal(object)
    source_requested = Signal(str, int)
    match_corrected = Signal(object)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setObjectName("precision_comparison")
        self._session = session
        self.run: Run | None = None
        self.comparison: Comparison | None = None
        self.selection = Selection(self)
        self.verdict, self.plot = VerdictCard(), PlotView(self.selection)
        self.table, self.tree = TableView(self.selection), TreeView(self.selection)
        self.operator = OperatorPage(self.selection)
        self._make()
        self._connect()
        self._arrange()

    def _make(self) -> None:
        self.lists_splitter = QSplitter(Qt.Orientation.Vertical)
        self.lists_splitter.setChildrenCollapsible(False)
        self.lists_splitter.addWidget(self._make_plot_card())
        self.lists_splitter.addWidget(self._make_lists())
        self.lists_splitter.setStretchFactor(0, 2)
        self.lists_splitter.setStretchFactor(1, 3)
        self.lists_splitter.setSizes([210, 330])
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(self.lists_splitter)
        self.splitter.addWidget(self.operator)
        self.splitter.setStretchFactor(0, 1)
        self.splitter.setStretchFactor(1, 0)
        self.splitter.setSizes([700, PAGE_WIDTH])
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.verdict)
        column.addWidget(self.splitter, 1)

    def _make_plot_card(self) -> QFrame:
        card = QFrame()
        card.setProperty("role", "card")
        head = QHBoxLayout()
        head.setContentsMargins(14, 0, 14, 0)
        head.addWidget(label("precision.view.plot_title", "title"))
        hint = label("precision.view.plot_limit", "hint")
        head.addStretch(1)
        head.addWidget(hint)
        column = QVBoxLayout(card)
        column.setContentsMargins(1, 8, 1, 1)
        column.setSpacing(2)
        column.addLayout(head)
        column.addWidget(self.plot, 1)
        return card

    def _make_lists(self) -> QFrame:
        card = QFrame()
        card.setProperty("role", "card")
        self.tabs = Tabs("precision_lists", "precision.view.lists", TABS)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.table)
        self.stack.addWidget(self.tree)
        column = QVBoxLayout(card)
        column.setContentsMargins(0, 2, 0, 0)
        column.setSpacing(8)
        bar = QHBoxLayout()
        bar.setContentsMargins(6, 0, 6, 0)
        bar.addWidget(self.tabs)
        bar.addSpacing(8)
        bar.addWidget(self.table.verdicts, 1)
        column.addLayout(bar)
        column.addWidget(self.stack, 1)
        return card

    def _connect(self) -> None:
        self.tabs.currentChanged.connect(self.show_list)
        self.verdict.go_requested.connect(self.go_to_first)
        self.tree.match_corrected.connect(self.match_corrected)
        self.operator.source_requested.connect(self.source_requested)
        self.operator.deeper_requested.connect(lambda: self._request(self.deeper_requested))
        self.operator.reproducer_requested.connect(lambda: self._request(self.reproducer_requested))
        self.operator.issue_requested.connect(lambda: self._request(self.issue_requested))
        self.operator.acc_check_requested.connect(lambda: self._request(self.acc_check_requested))
        actions.register(self, "precision.view.find", "precision.view.find", self.find_call, "Ctrl+F", "search")
        actions.register(self, "precision.view.next", "precision.view.next", self.next_differing, "F8")
        actions.register(
            self, "precision.view.previous", "precision.view.previous", self.previous_differing, "Shift+F8"
        )

    def show_comparison(self, run: Run | None, comparison: Comparison) -> None:
        """Show a comparison at its first divergence; if it is the same comparison again, keep the selected call."""
        is_same = self.run is not None and run is not None and run.folder == self.run.folder
        previous = self.suspect() if is_same else None
        self.run, self.comparison = run, comparison
        self.selection.call, self.selection.row = -1, -1
        self.verdict.show_comparison(comparison)
        self.plot.show_comparison(comparison)
        self.table.show_order(RowOrder(comparison))
        self.tree.show_comparison(comparison)
        self.operator.show_comparison(comparison)
        if previous is not None and comparison.names[previous.index : previous.index + 1] == (previous.call,):
            self.selection.select(previous.index)
        else:
            self.go_to_first()

    def suspect(self) -> Suspect | None:
        """Return the selected call."""
        comparison, call = self.comparison, self.selection.call
        if comparison is None or not 0 <= call < len(comparison.names):
            return None
        dump_pass = [each for each in comparison.passes if each.first_call <= call][-1]
        return Suspect(run=self.run, call=comparison.names[call], index=call, step=dump_pass.step, rank=dump_pass.rank)

    def go_to_first(self) -> None:
        """Select the first divergence or, without one, the largest difference."""
        comparison = self.comparison
        if comparison is None or not len(comparison.names):
            return
        if comparison.first is not None and comparison.first.call >= 0:
            self.selection.select(comparison.first.call, comparison.first.row)
        else:
            finite = np.where(np.isfinite(comparison.call_error), comparison.call_error, -1)
            self.selection.select(int(finite.argmax()))

    def next_differing(self) -> None:
        self._step(1)

    def previous_differing(self) -> None:
        self._step(-1)

    def _step(self, by: int) -> None:
        """Select the next or previous notable call, wrapping round at the ends."""
        if self.comparison is None:
            return
        differing = np.flatnonzero(np.isin(self.comparison.call_verdict, NOTABLE))
        if len(differing):
            call = self.selection.call
            position = int(differing.searchsorted(call + 1)) if by > 0 else int(differing.searchsorted(call)) - 1
            self.selection.select(int(differing[position % len(differing)]))

    def find_call(self) -> None:
        self.tabs.setCurrentIndex(TABLE)
        self.table.focus_search()

    def show_list(self, number: int) -> None:
        """Show the table, the tree, or the page of the call where there is no room for it beside them."""
        self.stack.setCurrentIndex(number)
        self.table.verdicts.setVisible(number == TABLE)

    def _request(self, signal: object) -> None:
        if (suspect := self.suspect()) is not None:
            signal.emit(suspect)  # type: ignore[attr-defined]

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Make the page of the call a third list where the window is too narrow for two columns."""
        is_wide = self.width() >= MIN_WIDTH_FOR_PAGE
        is_column = self.operator.parentWidget() is self.splitter
        self.tabs.setTabVisible(OPERATOR, not is_wide)
        if is_wide and not is_column:
            if self.tabs.currentIndex() == OPERATOR:
                self.tabs.setCurrentIndex(TABLE)
            self.splitter.addWidget(self.operator)
            self.operator.show()
            self.operator.show_frame(True)
            self.splitter.setSizes([self.width() - PAGE_WIDTH, PAGE_WIDTH])
        elif not is_wide and is_column:
            self.stack.addWidget(self.operator)
            self.operator.show_frame(False)
