"""The tables beside a trace as they are, and those of an analysis: filtered, sorted, and joined to the slices."""

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
from ui.asking import ask
from ui.file_dialogs import ask_new_file
from ui.say import say
from ui.timeline.latest import Latest
from ui.timeline.panes.hint import Hint
from ui.timeline.panes.tables_list import TablesList
from ui.timeline.panes.tables_model import SheetModel
from ui.timeline.panes.tables_questions import Arranged, arranged, counted, read, sought, written
from ui.timeline.panes.tables_view import SheetView
from ui.widgets import Elided, retone, text_button

if TYPE_CHECKING:
    from PySide6.QtGui import QShowEvent

    from backends.timeline.tables.sheets import Sheet
    from backends.timeline.trace import Trace
    from ui.session import Session
    from ui.timeline.state import ViewState

PAUSE_MS = 150
FILTER = 180  # px
NOTHING = np.empty(0, np.int64)


class TablesPane(QWidget):
    """`find_wanted`: all slices of a name; `slice_shown`: one of that name was a row's own, and is selected.
    `arranged_anew`: the table shows what was asked for last. `is_jumping`: the slice being chosen was clicked here."""

    find_wanted = Signal(str)
    slice_shown = Signal(str)
    arranged_anew = Signal()

    def __init__(self, session: Session, state: ViewState) -> None:
        super().__init__()
        self._session, self._state = session, state
        self._listing, self._reading, self._seeking = Latest(self), Latest(self), Latest(self)
        self._listed: Trace | None = None
        self._is_listed = False
        self._by, self._is_falling = -1, False
        self.shown: Arranged | None = None
        self.problem: StudioError | None = None
        self.is_jumping = False
        self.list = TablesList()
        self.list.chosen.connect(self._read)
        self.model = SheetModel()
        self.model.sort_wanted.connect(self._sort)
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
        for setter in ("setPlaceholderText", "setAccessibleName"):
            say(self.filter, setter, "timeline.tables_pane.filter")
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
        """Once per profile, when somebody looks."""
        trace = self._state.trace
        if trace is not None and trace is not self._listed and trace.meta.partial is None and self.isVisible():
            self._listed = trace
            self._listing.ask(partial(sheets, trace), self._show_sheets)

    def _show_sheets(self, found: tuple[Sheet, ...]) -> None:
        self._is_listed = True
        self.list.show_sheets(found)
        self.retranslate()

    # One of them

    def _read(self, sheet: Sheet | None) -> None:
        self._by, self.problem = -1, None
        self.view.forget_order()
        self._show(None)
        if sheet is not None:
            self._reading.ask(partial(read, sheet, self.filter.text()), self._heard)

    def _sort(self, column: int, is_falling: bool) -> None:
        if self.shown is not None:
            self._by, self._is_falling = column, is_falling
            self._arrange()

    def _arrange(self) -> None:
        if (shown := self.shown) is None:
            self._read(self.list.sheet)
            return
        question = partial(arranged, shown.sheet, shown.rows, self.filter.text(), self._by, falling=self._is_falling)
        self._reading.ask(question, self._heard)

    def _heard(self, found: Arranged | StudioError) -> None:
        if isinstance(found, StudioError):
            self.problem = found
            self.retranslate()
        else:
            self._show(found)
        self.arranged_anew.emit()

    def _show(self, found: Arranged | None) -> None:
        before, self.shown = self.shown, found
        if found is None:
            self._reading.drop()
            self._seeking.drop()
            self.model.show_rows(None, NOTHING)
        else:
            self.model.show_rows(found.rows, found.order)
            if before is None:
                self.view.fit()
        self.retranslate()

    def retranslate(self) -> None:
        shown, trace = self.shown, self._state.trace
        self._pages.setCurrentIndex(1 if self.list.sheets else 0)
        nothing = "timeline.tables_pane.none" if self._is_listed else "timeline.tables_pane.reading"
        self._hint.text.setText(t("timeline.pane.no_trace" if trace is None else nothing))
        self.csv.setEnabled(shown is not None)
        retone(self.count, "role", "dim" if self.problem is None else "bad")
        if self.problem is not None:
            self.count.setText(str(self.problem))
        else:
            self.count.setText(counted(shown) if shown is not None else t("timeline.tables_pane.reading"))

    # The slices of a row

    def _seek(self, number: int) -> None:
        trace, shown = self._state.trace, self.shown
        if trace is not None and shown is not None and trace.meta.lanes:
            question = partial(sought, trace, shown, number)
            self._seeking.ask(question, partial(self._found, trace))

    def _found(self, trace: Trace, found: tuple[str, int]) -> None:
        name, index = found
        if trace is not self._state.trace or not name:
            return
        if index < 0:
            self.find_wanted.emit(name)
            self._state.lanes_wanted.emit()
            return
        self.slice_shown.emit(name)
        self.is_jumping = True
        try:
            self._state.reveal(index)
        finally:
            self.is_jumping = False
        self._state.lanes_wanted.emit()

    # Into a file

    def _choose_file(self) -> None:
        if self.shown is not None:
            name = " ".join(filter(None, (self.shown.sheet.path.stem, self.shown.sheet.table)))
            ask_new_file(self, t("timeline.range.csv"), Path.home() / f"{name}.csv", "csv", self.save)

    def save(self, path: Path) -> None:
        """The rows that are shown, in their order."""
        if self.shown is not None:
            ask(self, partial(written, self.shown, path), self._saved)

    def _saved(self, error: StudioError | None) -> None:
        if error is not None:
            self._session.trouble.emit(error)
