"""What happens in the selected range, or in what is in view, by name."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from backends.timeline.query.csv_export import write_statistics
from studio.errors import StudioError
from studio.texts import t
from ui.asking import ask
from ui.file_dialogs import ask_new_file
from ui.plain_text import plain_tip
from ui.say import joined
from ui.timeline.panes.hint import Hint
from ui.timeline.panes.list_model import ListModel
from ui.timeline.panes.list_view import ListView
from ui.timeline.panes.range_columns import columns_of
from ui.timeline.panes.range_question import question_of
from ui.timeline.panes.reckoned import Question, Reckoned, devices_text, devices_tip, reckon
from ui.timeline.times import length_text
from ui.widgets import Elided, text_button

if TYPE_CHECKING:
    from PySide6.QtGui import QShowEvent

    from backends.timeline.trace import Trace
    from ui.session import Session
    from ui.timeline.state import ViewState

PAUSE_MS = 150


class RangePane(QWidget):
    """`find_wanted`: all slices of a name. `reckoned_anew`: the table shows another range."""

    find_wanted = Signal(str)
    reckoned_anew = Signal()

    def __init__(self, session: Session, state: ViewState) -> None:
        super().__init__()
        self._session, self._state = session, state
        self.reckoned: Reckoned | None = None
        self._asked: Question | None = None
        self.title = Elided(role="strong")
        self.title.setObjectName("timeline_range_title")
        self.busy = Elided(role="dim")
        self.busy.setObjectName("timeline_range_busy")
        self.csv = text_button("timeline.range.csv", "timeline_range_csv")
        self.csv.clicked.connect(self._choose_file)
        self.model = ListModel()
        self.view = ListView(self.model, "timeline_range_table", "timeline.range.table")
        self.view.opened.connect(self._find)
        self._hint = Hint("timeline.pane.no_trace")
        self._pages = QStackedWidget()
        self._pages.addWidget(self._hint)
        self._pages.addWidget(self.view)
        self._lay_out()
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.timeout.connect(self._ask)
        state.trace_changed.connect(self._forget)
        for signal in (state.range_changed, state.range_chosen, state.bands_changed, state.trace_changed):
            signal.connect(self._later)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(12)
        head.addWidget(self.title)
        head.addWidget(self.busy, 1)
        head.addWidget(self.csv)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self._pages, 1)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._later()

    def _forget(self) -> None:
        """The columns of the trace before are not to be kept in memory."""
        if self.reckoned is not None and self.reckoned.trace is not self._state.trace:
            self.reckoned = None
            self.model.show_rows((), 0)
            self._pages.setCurrentIndex(0)
            self.retranslate()

    def _later(self, _what: object = None) -> None:
        if self.isVisible():
            self._pause.start(PAUSE_MS)

    def _ask(self) -> None:
        """One question at a time: those of a moving view would queue up."""
        trace = self._state.trace
        if trace is None or self._asked is not None or not self.isVisible():
            return
        question = question_of(self._state, trace)
        shown = self.reckoned
        if shown is not None and shown.trace is trace and shown.question == question:
            return
        self._asked = question
        if shown is None:
            self.retranslate()
        ask(self, partial(_reckoned, trace, question), self._show)

    def _show(self, reckoned: Reckoned | None) -> None:
        self._asked = None
        if reckoned is None:
            return
        if reckoned.trace is self._state.trace:
            self.reckoned = reckoned
            self.retranslate()
            self.reckoned_anew.emit()
        self._later()

    def retranslate(self) -> None:
        found = self.reckoned
        self.csv.setEnabled(found is not None and len(found.statistics.name) > 0)
        if found is None:
            self.title.setText("")
            self.busy.setText("")
            has_trace = self._state.trace is not None
            self._hint.text.setText(t("timeline.range.reckoning" if has_trace else "timeline.pane.no_trace"))
            return
        length = length_text(found.question.end - found.question.begin)
        key = "timeline.range.of_range" if found.question.is_chosen else "timeline.range.of_view"
        limit = "" if found.question.rows is None else t("timeline.range.shown_lanes")
        self.title.setText(joined((t(key, length=length), limit)))
        self.busy.setText(devices_text(found.devices))
        self.busy.setToolTip(plain_tip(devices_tip(found.devices)))
        self._hint.text.setText(t("timeline.range.empty"))
        self.model.show_rows(columns_of(found), len(found.statistics.name))
        self._pages.setCurrentIndex(1 if len(found.statistics.name) else 0)

    def _find(self, row: int) -> None:
        if self.reckoned is not None:
            name = int(self.reckoned.statistics.name[row])
            self.find_wanted.emit(self.reckoned.trace.name_text(name))

    def _choose_file(self) -> None:
        if self.reckoned is not None:
            start = Path.home() / f"{self.reckoned.trace.root.name}.csv"
            ask_new_file(self, t("timeline.range.csv"), start, "csv", self.save)

    def save(self, path: Path) -> None:
        if self.reckoned is not None:
            ask(self, partial(_written, self.reckoned, path), self._saved)

    def _saved(self, error: StudioError | None) -> None:
        if error is not None:
            self._session.trouble.emit(error)


def _reckoned(trace: Trace, question: Question) -> Reckoned | None:
    """None where the files of a part that was shown first are gone: the whole is there now."""
    try:
        return reckon(trace, question)
    except OSError:
        return None


def _written(found: Reckoned, path: Path) -> StudioError | None:
    try:
        write_statistics(found.trace, path, found.statistics)
    except StudioError as error:
        return error
    return None
