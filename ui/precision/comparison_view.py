"""A comparison: the verdict, the plot along the execution order, table and module tree, and the page of one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from ui import actions
from ui.precision.comparison_selection import Selection
from ui.precision.operator_page import OperatorPage
from ui.precision.plot_view import PlotView
from ui.precision.row_order import RowOrder
from ui.precision.table_view import TableView
from ui.precision.tree_view import TreeView
from ui.precision.verdict_card import VerdictCard
from ui.precision.verdict_mark import TO_LOOK_AT
from ui.tabs import Tabs
from ui.widgets import label

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from backends.precision.compare.comparison import Comparison
    from studio.run import Run
    from ui.session import Session

TABLE, TREE, OPERATOR = range(3)
TABS = ("precision.view.tab_table", "precision.view.tab_tree", "precision.view.tab_operator")
ROOM_FOR_PAGE = 900
PAGE_WIDE = 372


@dataclass(frozen=True, kw_only=True)
class Suspect:
    """A call of a comparison that something is wanted of: its name, `index` in the comparison, and its pass."""

    run: Run | None
    call: str
    index: int
    step: int
    rank: int


class ComparisonView(QWidget):
    """`deeper_wanted`, `reproducer_wanted`, `issue_wanted`, `alone_wanted` carry a Suspect, `match_corrected` a
    tree_view.Match, `source_wanted` a path and a line."""

    deeper_wanted = Signal(object)
    reproducer_wanted = Signal(object)
    issue_wanted = Signal(object)
    alone_wanted = Signal(object)
    source_wanted = Signal(str, int)
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
        self.parts = QSplitter(Qt.Orientation.Vertical)
        self.parts.setChildrenCollapsible(False)
        self.parts.addWidget(self._make_plot_card())
        self.parts.addWidget(self._make_lists())
        self.parts.setStretchFactor(0, 2)
        self.parts.setStretchFactor(1, 3)
        self.parts.setSizes([210, 330])
        self.sides = QSplitter(Qt.Orientation.Horizontal)
        self.sides.setChildrenCollapsible(False)
        self.sides.addWidget(self.parts)
        self.sides.addWidget(self.operator)
        self.sides.setStretchFactor(0, 1)
        self.sides.setStretchFactor(1, 0)
        self.sides.setSizes([700, PAGE_WIDE])
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.verdict)
        column.addWidget(self.sides, 1)

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
        beside = QHBoxLayout()
        beside.setContentsMargins(6, 0, 6, 0)
        beside.addWidget(self.tabs)
        beside.addSpacing(8)
        beside.addWidget(self.table.verdicts, 1)
        column.addLayout(beside)
        column.addWidget(self.stack, 1)
        return card

    def _connect(self) -> None:
        self.tabs.currentChanged.connect(self.show_list)
        self.verdict.wanted.connect(self.go_to_first)
        self.tree.match_corrected.connect(self.match_corrected)
        self.operator.source_wanted.connect(self.source_wanted)
        self.operator.deeper_wanted.connect(lambda: self._want(self.deeper_wanted))
        self.operator.reproducer_wanted.connect(lambda: self._want(self.reproducer_wanted))
        self.operator.issue_wanted.connect(lambda: self._want(self.issue_wanted))
        self.operator.alone_wanted.connect(lambda: self._want(self.alone_wanted))
        actions.register(self, "precision.view.find", "precision.view.find", self.find_call, "Ctrl+F", "search")
        actions.register(self, "precision.view.next", "precision.view.next", self.next_differing, "F8")
        actions.register(
            self, "precision.view.previous", "precision.view.previous", self.previous_differing, "Shift+F8"
        )

    # What is shown

    def show_comparison(self, run: Run | None, comparison: Comparison) -> None:
        """Lands on the first divergence; what was selected of the same comparison stays."""
        is_same = self.run is not None and run is not None and run.folder == self.run.folder
        kept = self.suspect() if is_same else None
        self.run, self.comparison = run, comparison
        self.selection.call, self.selection.row = -1, -1
        self.verdict.show_comparison(comparison)
        self.plot.show_comparison(comparison)
        self.table.show_order(RowOrder(comparison))
        self.tree.show_comparison(comparison)
        self.operator.show_comparison(comparison)
        if kept is not None and comparison.names[kept.index : kept.index + 1] == (kept.call,):
            self.selection.select(kept.index)
        else:
            self.go_to_first()

    def suspect(self) -> Suspect | None:
        """The call that is selected."""
        found, call = self.comparison, self.selection.call
        if found is None or not 0 <= call < len(found.names):
            return None
        one = [one for one in found.passes if one.first_call <= call][-1]
        return Suspect(run=self.run, call=found.names[call], index=call, step=one.step, rank=one.rank)

    def go_to_first(self) -> None:
        """The first divergence; without one the largest difference."""
        found = self.comparison
        if found is None or not len(found.names):
            return
        if found.first is not None and found.first.call >= 0:
            self.selection.select(found.first.call, found.first.row)
        else:
            finite = np.where(np.isfinite(found.call_error), found.call_error, -1)
            self.selection.select(int(finite.argmax()))

    def next_differing(self) -> None:
        self._step(1)

    def previous_differing(self) -> None:
        self._step(-1)

    def _step(self, by: int) -> None:
        """Round the end."""
        if self.comparison is None:
            return
        differing = np.flatnonzero(np.isin(self.comparison.call_verdict, TO_LOOK_AT))
        if len(differing):
            call = self.selection.call
            place = int(differing.searchsorted(call + 1)) if by > 0 else int(differing.searchsorted(call)) - 1
            self.selection.select(int(differing[place % len(differing)]))

    def find_call(self) -> None:
        self.tabs.setCurrentIndex(TABLE)
        self.table.focus_search()

    def show_list(self, number: int) -> None:
        """The table, the tree, or, where there is no room beside them, the page of the call."""
        self.stack.setCurrentIndex(number)
        self.table.verdicts.setVisible(number == TABLE)

    def _want(self, signal: object) -> None:
        if (suspect := self.suspect()) is not None:
            signal.emit(suspect)  # type: ignore[attr-defined]

    # Room

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Too narrow for two columns, the page of the call is a third list."""
        is_wide = self.width() >= ROOM_FOR_PAGE
        is_beside = self.operator.parentWidget() is self.sides
        self.tabs.setTabVisible(OPERATOR, not is_wide)
        if is_wide and not is_beside:
            if self.tabs.currentIndex() == OPERATOR:
                self.tabs.setCurrentIndex(TABLE)
            self.sides.addWidget(self.operator)
            self.operator.show()
            self.operator.show_frame(True)
            self.sides.setSizes([self.width() - PAGE_WIDE, PAGE_WIDE])
        elif not is_wide and is_beside:
            self.stack.addWidget(self.operator)
            self.operator.show_frame(False)
