"""The slice that is selected: where it is, its arguments and metrics, who called it, and its flows."""

from __future__ import annotations

import sysconfig
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from studio.errors import StudioError
from studio.texts import t
from ui import editor
from ui.editor_sheet import EditorSheet
from ui.timeline.latest import Latest
from ui.timeline.panes.facts_table import FactsTable
from ui.timeline.panes.flow_list import FlowList
from ui.timeline.panes.hint import Hint
from ui.timeline.panes.list_model import one_line
from ui.timeline.panes.looked_up import look_up
from ui.timeline.panes.slice_facts import argument_facts, place_facts
from ui.timeline.panes.stack_list import StackList
from ui.widgets import Elided, text_button

if TYPE_CHECKING:
    from backends.timeline.trace import Trace
    from ui.session import Session
    from ui.timeline.panes.looked_up import LookedUp
    from ui.timeline.state import ViewState

PAUSE_MS = 40  # who steps through slices asks only for the one at which they stop


class SlicePane(QWidget):
    """`find_wanted`: all slices of this name."""

    find_wanted = Signal(str)

    def __init__(self, session: Session, state: ViewState) -> None:
        super().__init__()
        self._session, self._state = session, state
        self._latest = Latest(self)
        self.found: LookedUp | None = None
        self.name = Elided(role="strong")
        self.name.setObjectName("timeline_slice_name")
        self.host_call = text_button("timeline.slice.host_call", "timeline_host_call")
        self.find_all = text_button("timeline.slice.find_all", "timeline_find_all")
        self.copy = text_button("timeline.slice.copy", "timeline_copy_slice")
        self.place = FactsTable("timeline_slice_place", "timeline.pane.slice", 0.4)
        self.args = FactsTable("timeline_slice_args", "timeline.slice.args")
        self.stack = StackList()
        self.flows = FlowList(state)
        self._pages = QStackedWidget()
        self._pages.addWidget(Hint("timeline.pane.no_slice"))
        self._pages.addWidget(self._body())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._pages)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._connect()

    def _body(self) -> QWidget:
        body = QWidget()
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.name, 1)
        for button in (self.host_call, self.find_all, self.copy):
            head.addWidget(button)
        right = QVBoxLayout()
        right.setSpacing(4)
        right.addWidget(self.stack, 1)
        right.addWidget(self.flows, 1)
        right.addStretch()
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self.place, 5)
        row.addWidget(self.args, 5)
        row.addLayout(right, 5)
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addLayout(row, 1)
        return body

    def _connect(self) -> None:
        self._state.slice_chosen.connect(self._follow)
        self._state.bands_changed.connect(self._show_place)
        self._pause.timeout.connect(self._ask)
        self.host_call.clicked.connect(self._go_to_host)
        self.find_all.clicked.connect(self._find_all)
        self.copy.clicked.connect(self._copy)
        self.stack.source_wanted.connect(self.open_source)

    def _follow(self, index: int) -> None:
        self._latest.drop()
        if index < 0 or self._state.trace is None:
            self.clear()
        else:
            self._pause.start(PAUSE_MS)

    def clear(self) -> None:
        self._pause.stop()
        self._latest.drop()
        self.found = None
        self._pages.setCurrentIndex(0)

    def _ask(self) -> None:
        trace, index = self._state.trace, self._state.selected
        if trace is not None and index >= 0:
            self._latest.ask(partial(look_up, trace, index, self._roots()), partial(self._show, trace))

    def _roots(self) -> tuple[Path, ...]:
        project = self._session.project
        packages = Path(sysconfig.get_path("purelib"))
        return (project.folder, packages) if project is not None else (packages,)

    def _show(self, trace: Trace, found: LookedUp) -> None:
        if trace is self._state.trace and found.details.index == self._state.selected:
            self.found = found
            self._pages.setCurrentIndex(1)
            self.retranslate()

    def retranslate(self) -> None:
        if self.found is None:
            return
        details = self.found.details
        self.name.setText(one_line(details.name) or t("timeline.view.no_name"))
        self.host_call.setVisible(self.found.host_call >= 0)
        self._show_place()
        self.args.show_facts(argument_facts(details))
        self.stack.show_frames(details.stack)
        self.flows.show_flows(self.found.flows, self.found.flow_count)

    def _show_place(self) -> None:
        """The lane may have been moved."""
        if self.found is not None and self.found.details.index == self._state.selected:
            self.place.show_facts(place_facts(self._state, self.found.details))

    def _go_to_host(self) -> None:
        if self.found is not None:
            self.flows.go_to(self.found.details.index, self.found.host_call)

    def _find_all(self) -> None:
        if self.found is not None:
            self.find_wanted.emit(self.found.details.name)

    def _copy(self) -> None:
        """All that is said here, as text."""
        if self.found is None:
            return
        facts = (*self.place.facts.facts, *self.args.facts.facts)
        lines = [f"{fact.name}\t{fact.value}" if fact.value is not None else fact.name for fact in facts]
        stack = [frame.text for frame in self.found.details.stack]
        QGuiApplication.clipboard().setText("\n".join([self.found.details.name, *lines, *stack]))

    def open_source(self, path: Path, line: int) -> None:
        words = editor.chosen()
        if not words:
            EditorSheet(self, self._session, lambda _words: self.open_source(path, line)).show_below(self.stack)
            return
        try:
            editor.open_at(words, path, line)
        except StudioError as error:
            self._session.trouble.emit(error)
