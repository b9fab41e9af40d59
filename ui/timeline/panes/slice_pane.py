"""The slice pane: position, arguments and metrics of the selected slice, its call stack and its flows."""

from __future__ import annotations

import sysconfig
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from backends.timeline.query.stack import SourceFolders
from studio.errors import StudioError, from_os
from studio.output.spreadsheet import tab_separated
from studio.texts import t
from ui.services import editor
from ui.services.background import run_in_background
from ui.services.editor_sheet import EditorSheet
from ui.services.file_dialogs import ask_folder
from ui.timeline.latest_question import LatestQuestion
from ui.timeline.opening import recent_profiles
from ui.timeline.panes.empty_hint import Hint
from ui.timeline.panes.facts_table import FactsTable
from ui.timeline.panes.flow_list import FlowList
from ui.timeline.panes.list_model import single_line
from ui.timeline.panes.slice_facts import argument_facts, slice_facts
from ui.timeline.panes.slice_lookup import load_slice
from ui.timeline.panes.stack_list import StackList
from ui.widgets.basic import Elided, text_button

if TYPE_CHECKING:
    from backends.timeline.trace import Trace
    from ui.services.session import Session
    from ui.timeline.panes.slice_lookup import SliceLookup
    from ui.timeline.state.view_state import ViewState

PAUSE_MS = 40  # who steps through slices asks only for the one at which they stop


class SlicePane(QWidget):
    """`find_requested`: find all slices of this name."""

    find_requested = Signal(str)

    def __init__(self, session: Session, state: ViewState) -> None:
        super().__init__()
        self._session, self._state = session, state
        self._latest = LatestQuestion(self)
        self.lookup: SliceLookup | None = None
        self.name = Elided(role="strong")
        self.name.setObjectName("timeline_slice_name")
        self.host_call = text_button("timeline.slice.host_call", "timeline_host_call")
        self.find_all = text_button("timeline.slice.find_all", "timeline_find_all")
        self.copy = text_button("timeline.slice.copy", "timeline_copy_slice")
        self.facts = FactsTable("timeline_slice_place", "timeline.pane.slice", 0.4)
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
        row.addWidget(self.facts, 5)
        row.addWidget(self.args, 5)
        row.addLayout(right, 5)
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addLayout(row, 1)
        return body

    def _connect(self) -> None:
        self._state.selection.slice_chosen.connect(self._follow)
        self._state.lanes.changed.connect(self._show_facts)
        self._pause.timeout.connect(self._load_details)
        self.host_call.clicked.connect(self._go_to_host)
        self.find_all.clicked.connect(self._find_all)
        self.copy.clicked.connect(self._copy)
        self.stack.source_requested.connect(self.open_source)
        self.stack.folder_requested.connect(self._choose_sources)

    def _follow(self, index: int) -> None:
        self._latest.drop()
        if index < 0 or self._state.trace is None:
            self.clear()
        else:
            self._pause.start(PAUSE_MS)

    def clear(self) -> None:
        self._pause.stop()
        self._latest.drop()
        self.lookup = None
        self._pages.setCurrentIndex(0)

    def _load_details(self) -> None:
        trace, index = self._state.trace, self._state.selection.slice
        if trace is not None and index >= 0:
            folder = self._session.project.folder if self._session.project is not None else None
            self._latest.run(partial(_looked_up, trace, index, folder), partial(self._show, trace))

    def _choose_sources(self) -> None:
        ask_folder(self, t("timeline.slice.choose_sources"), Path.home(), self.add_sources)

    def add_sources(self, folder: Path) -> None:
        """Look for the files of call stacks in a folder from now on."""
        run_in_background(self, partial(_remembered, folder), self._show_remembered)

    def _show_remembered(self, error: StudioError | None) -> None:
        if error is not None:
            self._session.trouble.emit(error)
        self._load_details()

    def _show(self, trace: Trace, lookup: SliceLookup) -> None:
        if trace is self._state.trace and lookup.details.index == self._state.selection.slice:
            self.lookup = lookup
            self._pages.setCurrentIndex(1)
            self.retranslate()

    def retranslate(self) -> None:
        if self.lookup is None:
            return
        details = self.lookup.details
        self.name.setText(single_line(details.name) or t("timeline.view.no_name"))
        self.host_call.setVisible(self.lookup.host_call >= 0)
        self._show_facts()
        self.args.show_facts(argument_facts(details))
        self.stack.show_frames(details.stack)
        self.flows.show_flows(self.lookup.flows, self.lookup.flow_count)

    def _show_facts(self) -> None:
        """Show the facts again: the lane may have been moved."""
        if self.lookup is not None and self.lookup.details.index == self._state.selection.slice:
            self.facts.show_facts(slice_facts(self._state, self.lookup.details))

    def _go_to_host(self) -> None:
        if self.lookup is not None:
            self.flows.go_to(self.lookup.details.index, self.lookup.host_call)

    def _find_all(self) -> None:
        if self.lookup is not None:
            self.find_requested.emit(self.lookup.details.name)

    def _copy(self) -> None:
        """Copy everything that the pane shows, as text."""
        if self.lookup is None:
            return
        facts = (*self.facts.facts.facts, *self.args.facts.facts)
        rows = [(fact.name, fact.value) if fact.value is not None else (fact.name,) for fact in facts]
        stack = [(frame.text,) for frame in self.lookup.details.stack]
        QGuiApplication.clipboard().setText(tab_separated([(self.lookup.details.name,), *rows, *stack]))

    def open_source(self, path: Path, line: int) -> None:
        words = editor.chosen()
        if not words:
            EditorSheet(self, self._session, lambda _words: self.open_source(path, line)).show_below(self.stack)
            return
        try:
            editor.open_at(words, path, line)
        except StudioError as error:
            self._session.trouble.emit(error)


def _looked_up(trace: Trace, index: int, project: Path | None) -> SliceLookup:
    """Look a slice up; files of its stack may lie in the project, in folders that were chosen, and among the studio's
    packages."""
    projects = (*((project,) if project is not None else ()), *recent_profiles.source_folders())
    folders = SourceFolders(projects=projects, roots=(Path(sysconfig.get_path("purelib")),))
    return load_slice(trace, index, folders)


def _remembered(folder: Path) -> StudioError | None:
    try:
        recent_profiles.remember_sources(folder)
    except OSError as error:
        return from_os(error, folder)
    return None
