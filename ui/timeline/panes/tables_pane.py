"""The tables pane: tables next to a trace and those of an analysis, filtered, sorted, and linked to the slices."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QStackedWidget, QVBoxLayout, QWidget

from backends.timeline.tables.sheets import sheets
from studio.errors import StudioError
from studio.texts import t
from ui.services.background import run_in_background
from ui.services.file_dialogs import choose_new_file
from ui.timeline.latest_question import LatestQuestion
from ui.timeline.panes.empty_hint import Hint
from ui.timeline.panes.tables_list import TablesList
from ui.timeline.panes.tables_model import SheetModel
from ui.timeline.panes.tables_questions import Arranged, arranged, counted, find_slice, read, write_arranged
from ui.timeline.panes.tables_view import SheetView
from ui.widgets.basic import Elided, retone, text_button
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from PySide6.QtGui import QShowEvent

    from backends.timeline.tables.sheets import Sheet
    from backends.timeline.trace import Trace
    from ui.services.session import Session
    from ui.timeline.state.view_state import ViewState

PAUSE_MS = 150
FILTER = 180  # px
NO_TABLES = np.empty(0, np.int64)


class TablesPane(QWidget):
    """`find_requested`: find all slices of a name; `name_searched`: the slice of a row was selected, and its name is
    searched. `arranged_anew`: the table shows the latest filter and order. `is_jumping`: the slice being selected was
    clicked here."""

    find_requested = Signal(str)
    name_searched = Signal(str)
    arranged_anew = Signal()

    def __init__(self, session: Session, state: ViewState) -> None:
        super().__init__()
        self._session, self._state = session, state
        self._listing, self._reading, self._seeking = LatestQuestion(self), LatestQuestion(self), LatestQuestion(self)
        self._listed: Trace | None = None
        self._is_listed = False
        self._by, self._is_falling = -1, False
        self.arranged: Arranged | None = None
        self.problem: StudioError | None = None
        self.is_jumping = False
        self.list = TablesList()
        self.list.chosen.connect(self._read)
        self.model = SheetModel()
        self.model.sort_requested.connect(self._sort)
        self.view = SheetView(self.model)
        self.view.opened.connect(self._seek)
        self._make_bar()
        self._hint = Hint("timeline.pane.no_trace")
        self._lay_out()
        state.trace_changed.connect(self._follow)

    def _make_bar(self) -> None:
        self.filter = QLineEdit()
        self.filter.setObjectName("timeline_tables_filter")
        self.filter.setClearButtonEnabled(True)
        self.filter.setFixedWidth(FILTER)
        for setter in (self.filter.setPlaceholderText, self.filter.setAccessibleName):
            localize(setter, "timeline.tables_pane.filter")
        self.count = Elided(role="dim")
        self.count.setObjectName("timeline_tables_count")
        self.csv = text_button("timeline.range.csv", "timeline_tables_csv")
        self.csv.clicked.connect(self._choose_file)
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._arrange)
        self.filter.textChanged.connect(lambda _text: self._pause.start())

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        bar.setSpacing(12)
        bar.addWidget(self.filter)
        bar.addWidget(self.count, 1)
        bar.addWidget(self.csv)
        right = QVBoxLayout()
        right.setSpacing(4)
        right.addLayout(bar)
        right.addWidget(self.view, 1)
        body = QWidget()
        row = QHBoxLayout(body)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(self.list)
        row.addLayout(right, 1)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._hint)
        self._pages.addWidget(body)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._pages)

    # Which tables there are

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._list()

    def _follow(self) -> None:
        if self._listed is not self._state.trace:
            self._listed, self._is_listed = None, False
            self._listing.drop()
            self.list.show_sheets(())
            self._list()
        self.retranslate()

    def _list(self) -> None:
        """List the tables once per profile, when the pane becomes visible."""
        trace = self._state.trace
        if trace is not None and trace is not self._listed and trace.meta.partial is None and self.isVisible():
            self._listed = trace
            self._listing.run(partial(sheets, trace), self._show_sheets)

    def _show_sheets(self, sheets: tuple[Sheet, ...]) -> None:
        self._is_listed = True
        self.list.show_sheets(sheets)
        self.retranslate()

    # One of them

    def _read(self, sheet: Sheet | None) -> None:
        self._by, self.problem = -1, None
        self.view.forget_order()
        self._show(None)
        if sheet is not None:
            self._reading.run(partial(read, sheet, self.filter.text()), self._use_arranged)

    def _sort(self, column: int, is_falling: bool) -> None:
        if self.arranged is not None:
            self._by, self._is_falling = column, is_falling
            self._arrange()

    def _arrange(self) -> None:
        current = self.arranged
        if current is None:
            self._read(self.list.sheet)
            return
        question = partial(
            arranged, current.sheet, current.rows, self.filter.text(), self._by, falling=self._is_falling
        )
        self._reading.run(question, self._use_arranged)

    def _use_arranged(self, arranged: Arranged | StudioError) -> None:
        if isinstance(arranged, StudioError):
            self.problem = arranged
            self.retranslate()
        else:
            self._show(arranged)
        self.arranged_anew.emit()

    def _show(self, arranged: Arranged | None) -> None:
        before, self.arranged = self.arranged, arranged
        if arranged is None:
            self._reading.drop()
            self._seeking.drop()
            self.model.show_rows(None, NO_TABLES)
        else:
            self.model.show_rows(arranged.rows, arranged.order)
            if before is None:
                self.view.fit()
        self.retranslate()

    def retranslate(self) -> None:
        arranged, trace = self.arranged, self._state.trace
        self._pages.setCurrentIndex(1 if self.list.sheets else 0)
        nothing = "timeline.tables_pane.none" if self._is_listed else "timeline.tables_pane.reading"
        self._hint.text.setText(t("timeline.pane.no_trace" if trace is None else nothing))
        self.csv.setEnabled(arranged is not None)
        retone(self.count, "role", "dim" if self.problem is None else "bad")
        if self.problem is not None:
            self.count.setText(str(self.problem))
        else:
            self.count.setText(counted(arranged) if arranged is not None else t("timeline.tables_pane.reading"))

    # The slices of a row

    def _seek(self, number: int) -> None:
        trace, arranged = self._state.trace, self.arranged
        if trace is not None and arranged is not None and trace.meta.lanes:
            question = partial(find_slice, trace, arranged, number)
            self._seeking.run(question, partial(self._go_to_slice, trace))

    def _go_to_slice(self, trace: Trace, match: tuple[str, int]) -> None:
        name, index = match
        if trace is not self._state.trace or not name:
            return
        if index < 0:
            self.find_requested.emit(name)
            self._state.lanes_focus_requested.emit()
            return
        self.name_searched.emit(name)
        self.is_jumping = True
        try:
            self._state.reveal(index)
        finally:
            self.is_jumping = False
        self._state.lanes_focus_requested.emit()

    # Into a file

    def _choose_file(self) -> None:
        if self.arranged is not None:
            name = " ".join(filter(None, (self.arranged.sheet.path.stem, self.arranged.sheet.table)))
            choose_new_file(self, t("timeline.range.csv"), Path.home() / f"{name}.csv", "csv", self.save)

    def save(self, path: Path) -> None:
        """Save the visible rows in their order."""
        if self.arranged is not None:
            run_in_background(self, partial(write_arranged, self.arranged, path), self._saved)

    def _saved(self, error: StudioError | None) -> None:
        if error is not None:
            self._session.trouble.emit(error)
