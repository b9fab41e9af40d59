"""Files at the left, their findings in the middle, the source and what it means at the right."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from backends.migration.scan.overview import heat
from studio.texts import t
from ui.asking import ask
from ui.migration.cards import bare_card
from ui.migration.excerpt import Excerpt, read_excerpt
from ui.migration.file_delegate import FileDelegate
from ui.migration.file_model import FileModel
from ui.migration.finding_delegate import FindingDelegate
from ui.migration.finding_filter import FindingFilter
from ui.migration.finding_model import FindingModel
from ui.migration.lists import list_view, select_row
from ui.migration.names import place_text
from ui.migration.rule_panel import RulePanel
from ui.migration.source_view import SourceView
from ui.migration.wanted import Wanted
from ui.widgets import Elided, Empty, Sentence, label

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtCore import QModelIndex
    from PySide6.QtGui import QResizeEvent

    from backends.migration.found import Found, State
    from backends.migration.official.rows import Opinion

FILES_WIDE, ROOM_FOR_FILES, ROOM_FOR_THREE = 210, 840, 620


class FindingsView(QWidget):
    """`opened`: a place to open in the editor (path, line). `states_cleared`: the filter by state is to go too."""

    opened = Signal(str, int)
    suppress_wanted = Signal(object)
    states_cleared = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("migration_findings_view")
        self._folder: Path | None = None
        self._excerpt = Excerpt(path="")
        self._states: frozenset[State] = frozenset()
        self.found: Found | None = None
        self.files, self.findings = FileModel(), FindingModel()
        self.filter = FindingFilter()
        self.source, self.rule = SourceView(), RulePanel()
        self._make_lists()
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        self._file_card = bare_card(label("migration.files", "title"), self.file_list)
        self._middle = self._make_middle()
        self._right = self._make_right()
        for widget, stretch in ((self._file_card, 2), (self._middle, 4), (self._right, 5)):
            self.splitter.addWidget(widget)
            self.splitter.setStretchFactor(self.splitter.count() - 1, stretch)
        self.splitter.setSizes([FILES_WIDE, 350, 470])
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.splitter)
        self._connect()

    def _make_lists(self) -> None:
        self.file_list = list_view(self.files, FileDelegate(), "migration_files", "migration.files")
        self.list = list_view(self.findings, FindingDelegate(), "migration_findings", "migration.findings")

    def _make_middle(self) -> QWidget:
        self._lists = QStackedWidget()
        self._lists.addWidget(self.list)
        nothing = Empty("search", "migration.none_fit", "migration.none_fit_text")
        self._lists.addWidget(nothing)
        return bare_card(label("migration.findings", "title"), self.filter, self._lists)

    def _make_right(self) -> QWidget:
        self._place = Elided(Qt.TextElideMode.ElideLeft, "title")
        self._place.setObjectName("migration_place")
        self._problem = Sentence()
        self._problem.setContentsMargins(14, 14, 14, 14)
        self._sources = QStackedWidget()
        self._sources.addWidget(self.source)
        self._sources.addWidget(self._problem)
        parts = QSplitter(Qt.Orientation.Vertical)
        parts.setChildrenCollapsible(False)
        parts.addWidget(self._sources)
        parts.addWidget(self.rule)
        parts.setStretchFactor(0, 3)
        parts.setStretchFactor(1, 2)
        parts.setSizes([300, 230])
        return bare_card(self._place, parts)

    def _connect(self) -> None:
        self.file_list.selectionModel().currentChanged.connect(self._file_chosen)
        self.list.selectionModel().currentChanged.connect(self._finding_chosen)
        self.list.doubleClicked.connect(self._open_chosen)
        self.filter.changed.connect(self._want)
        self.filter.cleared.connect(self.clear)
        self.source.line_opened.connect(self._open_line)
        self.rule.editor_wanted.connect(self.open_editor)
        self.rule.suppress_wanted.connect(self._suppress)

    # What is shown

    def show_findings(self, folder: Path, findings: tuple[Found, ...]) -> None:
        """Another scan: the file, the finding and the filters stay where they still apply."""
        is_other = folder != self._folder
        self._folder = folder
        self._excerpt = Excerpt(path="")
        path = "" if is_other else self.findings.wanted.path
        if is_other:
            self.filter.reset()
            self.found = None
        self.files.show_files(heat(findings, {}))
        self.filter.show_categories(findings)
        row = self.files.row_of(path)
        select_row(self.file_list, row)
        self.findings.show_findings(findings)
        self._want()

    def show_opinion(self, opinion: Opinion | None) -> None:
        """What the official tool names is marked."""
        rows = opinion.rows if opinion else ()
        self.findings.show_named(frozenset((row.path, line) for row in rows for line in range(row.line, row.end + 1)))
        if self.found is not None:
            self.rule.show_found(self.found, is_named=self.findings.is_named(self.found))

    def show_states(self, states: frozenset[State]) -> None:
        """Only places: they are what the bar counts."""
        if bool(states) != bool(self._states):
            self.filter.choose_kind("place" if states else None)
        self._states = states
        self._want()

    def show_file(self, path: str) -> None:
        select_row(self.file_list, self.files.row_of(path))
        self._want()

    def clear(self) -> None:
        """All findings of all files again."""
        self.filter.reset()
        self._states = frozenset()
        select_row(self.file_list, 0)
        self.states_cleared.emit()
        self._want()

    def _want(self) -> None:
        self.findings.want(
            Wanted(
                states=self._states, kind=self.filter.kind, category=self.filter.category,
                path=self.files.path_of(self.file_list.currentIndex().row()), text=self.filter.text.text(),
            )
        )  # fmt: skip
        self.filter.show_count(len(self.findings.rows), len(self.findings.all))
        self._lists.setCurrentIndex(0 if self.findings.rows else 1)
        row = self.findings.row_of(self.found) if self.found else -1
        if self.findings.rows:
            self.go_to(max(0, row))

    def go_to(self, row: int) -> None:
        """Selects a row of what is listed and shows its place."""
        select_row(self.list, row)
        self._show_found(self.findings.rows[row])

    def step(self, by: int) -> None:
        """The next finding or the one before, round the end."""
        if self.findings.rows:
            row = self.findings.row_of(self.found) if self.found else -1
            self.go_to((row + by) % len(self.findings.rows))

    def _file_chosen(self, _now: QModelIndex, _before: QModelIndex) -> None:
        self._want()

    def _finding_chosen(self, now: QModelIndex, _before: QModelIndex) -> None:
        if now.isValid() and now.row() < len(self.findings.rows):
            self._show_found(self.findings.rows[now.row()])

    def _show_found(self, found: Found) -> None:
        self.found = found
        self._place.setText(place_text(found))
        self.rule.show_found(found, is_named=self.findings.is_named(found))
        if self._excerpt.holds(found.path, found.cell, found.line):
            self.source.mark(found)
        elif self._folder is not None:
            question = partial(read_excerpt, self._folder, found.path, found.cell, found.line)
            ask(self, question, partial(self._show_excerpt, found))

    def _show_excerpt(self, asked: Found, excerpt: Excerpt) -> None:
        """Only if it is still wanted: the next finding may have been chosen meanwhile."""
        if self.found is not asked:
            return
        self._excerpt = excerpt
        self._sources.setCurrentIndex(1 if excerpt.problem else 0)
        if excerpt.problem:
            self._problem.setText(t(excerpt.problem, **excerpt.args))
            return
        beside = [one for one in self.findings.all if (one.path, one.cell) == (excerpt.path, excerpt.cell)]
        self.source.show_excerpt(excerpt, beside)
        self.source.mark(asked)

    def forget_source(self) -> None:
        """The file was changed: it is read again."""
        self._excerpt = Excerpt(path="")
        if self.found is not None:
            self._show_found(self.found)

    # What is asked for

    def open_editor(self) -> None:
        if self.found is not None:
            self.opened.emit(self.found.path, self.found.line)

    def _open_chosen(self, _index: QModelIndex) -> None:
        self.open_editor()

    def _open_line(self, line: int) -> None:
        if self.found is not None:
            self.opened.emit(self.found.path, line)

    def _suppress(self) -> None:
        if self.found is not None:
            self.suppress_wanted.emit(self.found)

    def retranslate(self) -> None:
        self.findings.forget_texts()
        self.filter.show_categories(self.findings.all)
        self.filter.show_count(len(self.findings.rows), len(self.findings.all))
        for view in (self.list, self.file_list):
            view.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Too narrow for three columns, the files go; narrower still, the source stands below the findings."""
        super().resizeEvent(event)
        self._file_card.setVisible(self.width() >= ROOM_FOR_FILES)
        wide = self.width() >= ROOM_FOR_THREE
        wanted = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if self.splitter.orientation() != wanted:
            self.splitter.setOrientation(wanted)
