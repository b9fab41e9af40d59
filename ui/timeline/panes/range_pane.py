"""The range pane: statistics by name of the selected or visible range."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from backends.timeline.query.csv_export import write_statistics
from backends.timeline.query.lane_groups import kinds_in
from studio.errors import StudioError
from studio.texts import t
from ui.services.background import run_in_background
from ui.services.file_dialogs import choose_new_file
from ui.timeline.drawing.time_text import length_text
from ui.timeline.panes.empty_hint import Hint
from ui.timeline.panes.list_model import ListModel
from ui.timeline.panes.list_view import ListView
from ui.timeline.panes.range_figures import (
    KIND_TEXTS,
    Question,
    Reckoned,
    devices_text,
    devices_tip,
    question_of,
    range_columns,
    reckon,
)
from ui.widgets.basic import Elided, text_button
from ui.widgets.localized import joined
from ui.widgets.plain_tip import plain_tip

if TYPE_CHECKING:
    from PySide6.QtGui import QShowEvent

    from backends.timeline.query.lane_groups import GroupKind
    from backends.timeline.trace import Trace
    from ui.services.session import Session
    from ui.timeline.state.view_state import ViewState

PAUSE_MS = 150


class RangePane(QWidget):
    """`find_requested`: find all slices of a name. `reckoned_anew`: the table shows another range."""

    find_requested = Signal(str)
    reckoned_anew = Signal()

    def __init__(self, session: Session, state: ViewState) -> None:
        super().__init__()
        self._session, self._state = session, state
        self.reckoned: Reckoned | None = None
        self._pending: Question | None = None
        self.title = Elided(role="strong")
        self.title.setObjectName("timeline_range_title")
        self.busy = Elided(role="dim")
        self.busy.setObjectName("timeline_range_busy")
        self.kind = QComboBox()
        self.kind.setObjectName("timeline_range_kind")
        self.kind.activated.connect(self._schedule)
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
        self._pause.timeout.connect(self._compute)
        state.trace_changed.connect(self._forget)
        state.trace_changed.connect(self._offer_kinds)
        for signal in (
            state.viewport.range_changed,
            state.selection.range_chosen,
            state.lanes.changed,
            state.trace_changed,
        ):
            signal.connect(self._schedule)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(12)
        head.addWidget(self.title)
        head.addWidget(self.busy, 1)
        head.addWidget(self.kind)
        head.addWidget(self.csv)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self._pages, 1)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._schedule()

    def _offer_kinds(self) -> None:
        """Offer the kinds of lanes of this trace; the kernels are chosen where there are some, else all lanes."""
        trace = self._state.trace
        kinds = kinds_in(trace) if trace is not None else ()
        former = self.kind.currentData()
        self.kind.clear()
        for kind in (None, *kinds):
            self.kind.addItem(_kind_text(kind), kind)
        preferred = former if former in kinds else "device"
        self.kind.setCurrentIndex(max(0, self.kind.findData(preferred)))
        self.kind.setVisible(len(kinds) > 1)

    def _forget(self) -> None:
        """Drop the figures of the previous trace, which would keep its columns in memory."""
        if self.reckoned is not None and self.reckoned.trace is not self._state.trace:
            self.reckoned = None
            self.model.show_rows((), 0)
            self._pages.setCurrentIndex(0)
            self.retranslate()

    def _schedule(self, _what: object = None) -> None:
        if self.isVisible():
            self._pause.start(PAUSE_MS)

    def _compute(self) -> None:
        """Compute the figures of the current range, one at a time: those of a moving view would queue up."""
        trace = self._state.trace
        if trace is None or self._pending is not None or not self.isVisible():
            return
        question = question_of(self._state, trace, self.kind.currentData())
        current = self.reckoned
        if current is not None and current.trace is trace and current.question == question:
            return
        self._pending = question
        if current is None:
            self.retranslate()
        run_in_background(self, partial(_reckoned, trace, question), self._show)

    def _show(self, reckoned: Reckoned | None) -> None:
        self._pending = None
        if reckoned is None:
            return
        if reckoned.trace is self._state.trace:
            self.reckoned = reckoned
            self.retranslate()
            self.reckoned_anew.emit()
        self._schedule()

    def retranslate(self) -> None:
        for row in range(self.kind.count()):
            self.kind.setItemText(row, _kind_text(self.kind.itemData(row)))
        current = self.reckoned
        self.csv.setEnabled(current is not None and len(current.statistics.name) > 0)
        if current is None:
            self.title.setText("")
            self.busy.setText("")
            has_trace = self._state.trace is not None
            self._hint.text.setText(t("timeline.range.reckoning" if has_trace else "timeline.pane.no_trace"))
            return
        length = length_text(current.question.end - current.question.begin)
        key = "timeline.range.of_range" if current.question.is_chosen else "timeline.range.of_view"
        limit = "" if current.question.rows is None else t("timeline.range.shown_lanes")
        self.title.setText(joined((t(key, length=length), limit)))
        self.busy.setText(devices_text(current.devices))
        self.busy.setToolTip(plain_tip(devices_tip(current.devices)))
        self._hint.text.setText(t("timeline.range.empty"))
        self.model.show_rows(range_columns(current), len(current.statistics.name))
        self._pages.setCurrentIndex(1 if len(current.statistics.name) else 0)

    def _find(self, row: int) -> None:
        if self.reckoned is not None:
            name = int(self.reckoned.statistics.name[row])
            self.find_requested.emit(self.reckoned.trace.name_text(name))

    def _choose_file(self) -> None:
        if self.reckoned is not None:
            start = Path.home() / f"{self.reckoned.trace.root.name}.csv"
            choose_new_file(self, t("timeline.range.csv"), start, "csv", self.save)

    def save(self, path: Path) -> None:
        if self.reckoned is not None:
            run_in_background(self, partial(_written, self.reckoned, path), self._saved)

    def _saved(self, error: StudioError | None) -> None:
        if error is not None:
            self._session.trouble.emit(error)


def _kind_text(kind: GroupKind | None) -> str:
    return t(KIND_TEXTS[kind] if kind else "timeline.range.kind.all")


def _reckoned(trace: Trace, question: Question) -> Reckoned | None:
    """Return the figures, or None where the files of a partial trace are gone because reading is complete."""
    try:
        return reckon(trace, question)
    except OSError:
        return None


def _written(figures: Reckoned, path: Path) -> StudioError | None:
    try:
        write_statistics(figures.trace, path, figures.grouped)
    except StudioError as error:
        return error
    return None
