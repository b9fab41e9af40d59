"""Marks and notes of a profile: listed, edited and deleted; a click goes to one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from backends.timeline.query.notes import COLORS, Mark
from studio.texts import t
from ui.timeline.drawing.time_text import length_text
from ui.timeline.panes.empty_hint import Hint
from ui.timeline.panes.list_model import Column, ListModel
from ui.timeline.panes.list_view import ListView
from ui.timeline.panes.note_keeping import NoteStorage
from ui.widgets.basic import text_button

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ui.services.session import Session
    from ui.timeline.state.view_state import ViewState


class NotesPane(QWidget):
    def __init__(self, session: Session, state: ViewState) -> None:
        super().__init__()
        self._state = state
        self._keeping = NoteStorage(self, session, state, self._is_typing)
        self.add_button = text_button("timeline.notes.add", "timeline_add_note")
        self.delete_button = text_button("timeline.notes.delete", "timeline_delete_note")
        self.add_button.clicked.connect(self.add)
        self.delete_button.clicked.connect(self.delete)
        self.model = ListModel()
        self.model.edited, self.model.keep = 0, self._write_soon
        self.view = ListView(self.model, "timeline_notes", "timeline.notes.table")
        self.view.setEditTriggers(ListView.EditTrigger.DoubleClicked | ListView.EditTrigger.EditKeyPressed)
        self.view.chosen.connect(self._go)
        self.view.entered_row.connect(lambda _row: state.lanes_focus_requested.emit())
        self._hint = Hint("timeline.notes.empty")
        self._pages = QStackedWidget()
        self._pages.addWidget(self._hint)
        self._pages.addWidget(self.view)
        self._lay_out()
        delete = QAction(self.view)
        delete.setObjectName("timeline_delete_chosen")
        delete.setShortcut(QKeySequence(QKeySequence.StandardKey.Delete))
        delete.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        delete.triggered.connect(self.delete)
        self.view.addAction(delete)
        state.marks_changed.connect(self.retranslate)
        state.trace_changed.connect(self.retranslate)
        self.model.modelReset.connect(self._judge)
        self.view.selectionModel().selectionChanged.connect(self._judge)
        self.retranslate()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.add_button)
        head.addWidget(self.delete_button)
        head.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self._pages, 1)

    def retranslate(self) -> None:
        marks = self._state.marks
        self.model.show_rows(self._columns(marks), len(marks))
        self._pages.setCurrentIndex(1 if marks else 0)
        has_trace = self._state.trace is not None
        self._hint.text.setText(t("timeline.notes.empty" if has_trace else "timeline.pane.no_trace"))
        self.add_button.setEnabled(has_trace)

    def _columns(self, marks: Sequence[Mark]) -> tuple[Column, ...]:
        times = [self._state.times_of_mark(mark) for mark in marks]
        begin = [begin for begin, _ in times]
        length = [end - begin for begin, end in times]
        return (
            Column(
                head="timeline.notes.text",
                text=lambda row: marks[row].text,
                order=np.array([mark.text.lower() for mark in marks], dtype=object),
            ),
            Column(
                head="timeline.notes.start",
                text=lambda row: length_text(begin[row]),
                order=np.array(begin, np.float64),
                is_number=True,
            ),
            Column(
                head="timeline.notes.length",
                text=lambda row: length_text(length[row]) if length[row] else "",
                order=np.array(length, np.float64),
                is_number=True,
            ),
        )

    def _judge(self, *_what: object) -> None:
        self.delete_button.setEnabled(self.view.selectionModel().hasSelection())

    def _new_mark_times(self) -> tuple[int, int]:
        state = self._state
        if state.selection.range is not None:
            return state.selection.range.begin, state.selection.range.end
        if state.selection.slice >= 0:
            return state.times_of(state.selection.slice)
        middle = round((state.viewport.begin + state.viewport.end) / 2)
        return middle, middle

    def add(self) -> None:
        trace = self._state.trace
        if trace is None:
            return
        begin, end = (time + trace.meta.origin_ns for time in self._new_mark_times())
        marks = self._state.marks
        self._state.set_marks((*marks, Mark(begin=begin, end=end, color=len(marks) % COLORS)))
        self.choose(len(marks))
        self.view.edit(self.model.index(self.model.position_of(len(marks)), 0))

    def choose(self, number: int) -> None:
        self.view.show_row(number)
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def delete(self) -> None:
        gone = {int(self.model.rows[index.row()]) for index in self.view.selectionModel().selectedRows()}
        self._state.set_marks([mark for number, mark in enumerate(self._state.marks) if number not in gone])

    def _is_typing(self) -> bool:
        return self.view.state() == ListView.State.EditingState

    def _write_soon(self, row: int, text: str) -> None:
        """Store a text after the event: the editor is still open, and the rows are rebuilt."""
        QTimer.singleShot(0, self, partial(self._write, row, text))

    def _write(self, row: int, text: str) -> None:
        marks = list(self._state.marks)
        if row >= len(marks):
            return
        marks[row] = msgspec.structs.replace(marks[row], text=text)
        self._state.set_marks(marks)

    def _go(self, row: int) -> None:
        begin, end = self._state.times_of_mark(self._state.marks[row])
        span = self._state.viewport.span
        if end > begin:
            self._state.viewport.fit(begin, end)
        else:
            self._state.viewport.show(begin - span / 2, begin + span / 2)
