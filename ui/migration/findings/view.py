"""The findings view: files on the left, their findings in the middle, source and explanation on the right."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from backends.migration.scan.overview import file_heat
from studio.texts import t
from ui.migration.excerpt import Excerpt, read_excerpt
from ui.migration.finding_texts import location_text
from ui.migration.findings.file_delegate import FileDelegate
from ui.migration.findings.file_model import FileModel
from ui.migration.findings.finding_delegate import FindingDelegate
from ui.migration.findings.finding_filter import FindingFilter
from ui.migration.findings.finding_model import FindingModel
from ui.migration.findings.finding_query import FindingQuery
from ui.migration.findings.rule_panel import RulePanel
from ui.migration.findings.source_view import SourceView
from ui.migration.panes import edge_card, list_view, select_row
from ui.services.background import run_in_background
from ui.widgets.basic import (
    Elided,
    Empty,
    Sentence,
    label,
)

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtCore import QModelIndex
    from PySide6.QtGui import QResizeEvent

    from backends.migration.finding import FindingState, ScanFinding
    from backends.migration.official.opinion import Opinion

FILES_WIDTH, MIN_WIDTH_FOR_FILES, MIN_WIDTH_FOR_COLUMNS = 210, 840, 620


class FindingsView(QWidget):
    """`location_opened`: a path and line to open in the editor; `suppress_requested`: a finding; `states_cleared`: the
    filter by state is to be cleared too."""

    location_opened = Signal(str, int)
    suppress_requested = Signal(object)
    states_cleared = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("migration_findings_view")
        self._folder: Path | None = None
        self._excerpt = Excerpt(path="")
        self._states: frozenset[FindingState] = frozenset()
        self.finding: ScanFinding | None = None
        self.files, self.findings = FileModel(), FindingModel()
        self.filter = FindingFilter()
        self.source, self.rule = SourceView(), RulePanel()
        self._build_lists()
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        self._file_card = edge_card(label("migration.files", "title"), self.file_list)
        self._middle = self._build_middle()
        self._right = self._build_right()
        for widget, stretch in ((self._file_card, 2), (self._middle, 4), (self._right, 5)):
            self.splitter.addWidget(widget)
            self.splitter.setStretchFactor(self.splitter.count() - 1, stretch)
        self.splitter.setSizes([FILES_WIDTH, 350, 470])
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self._clean = Empty("check", "migration.clean", "migration.clean_text")
        self._clean.setObjectName("migration_clean")
        self._pages = QStackedWidget()
        self._pages.addWidget(self.splitter)
        self._pages.addWidget(self._clean)
        column.addWidget(self._pages)
        self._connect()

    def _build_lists(self) -> None:
        self.file_list = list_view(self.files, FileDelegate(), "migration_files", "migration.files")
        self.list = list_view(self.findings, FindingDelegate(), "migration_findings", "migration.findings")

    def _build_middle(self) -> QWidget:
        self._lists = QStackedWidget()
        self._lists.addWidget(self.list)
        nothing = Empty("search", "migration.none_fit", "migration.none_fit_text")
        self._lists.addWidget(nothing)
        return edge_card(label("migration.findings", "title"), self.filter, self._lists)

    def _build_right(self) -> QWidget:
        self._location = Elided(Qt.TextElideMode.ElideLeft, "title")
        self._location.setObjectName("migration_place")
        self._problem = Sentence()
        self._problem.setContentsMargins(14, 14, 14, 14)
        self._sources = QStackedWidget()
        self._sources.addWidget(self.source)
        self._sources.addWidget(self._problem)
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.setChildrenCollapsible(False)
        splitter.addWidget(self._sources)
        splitter.addWidget(self.rule)
        splitter.setStretchFactor(0, 3)
        splitter.setStretchFactor(1, 2)
        splitter.setSizes([300, 230])
        return edge_card(self._location, splitter)

    def _connect(self) -> None:
        self.file_list.selectionModel().currentChanged.connect(self._file_chosen)
        self.list.selectionModel().currentChanged.connect(self._finding_chosen)
        self.list.doubleClicked.connect(self._open_chosen)
        self.filter.changed.connect(self._apply_filter)
        self.filter.cleared.connect(self.clear)
        self.source.line_opened.connect(self._open_line)
        self.rule.editor_requested.connect(self.open_editor)
        self.rule.suppress_requested.connect(self._suppress)

    # Display

    def show_findings(self, folder: Path, findings: tuple[ScanFinding, ...]) -> None:
        """Show another scan; the file, the finding and the filters stay where they still apply."""
        is_other = folder != self._folder
        self._folder = folder
        self._pages.setCurrentWidget(self.splitter if findings else self._clean)
        self._excerpt = Excerpt(path="")
        path = "" if is_other else self.findings.query.path
        if is_other:
            self.filter.reset()
            self.finding = None
        self.files.show_files(file_heat(findings, {}))
        self.filter.show_categories(findings)
        row = self.files.row_of(path)
        select_row(self.file_list, row)
        self.findings.show_findings(findings)
        self._apply_filter()

    def show_opinion(self, opinion: Opinion | None) -> None:
        """Mark the findings that the official tool mentions."""
        rows = opinion.rows if opinion else ()
        self.findings.show_official_lines(
            frozenset((row.path, line) for row in rows for line in range(row.line, row.end + 1))
        )
        if self.finding is not None:
            self.rule.show_finding(self.finding, is_named=self.findings.is_named(self.finding))

    def show_states(self, states: frozenset[FindingState]) -> None:
        """Filter by state, which also hides advice, which the bar of the verdict does not count."""
        if bool(states) != bool(self._states):
            self.filter.choose_kind("place" if states else None)
        self._states = states
        self._apply_filter()

    def show_file(self, path: str) -> None:
        select_row(self.file_list, self.files.row_of(path))
        self._apply_filter()

    def clear(self) -> None:
        """Show all findings of all files again."""
        self.filter.reset()
        self._states = frozenset()
        select_row(self.file_list, 0)
        self.states_cleared.emit()
        self._apply_filter()

    def _apply_filter(self) -> None:
        self.findings.set_query(
            FindingQuery(
                states=self._states,
                kind=self.filter.kind,
                category=self.filter.category,
                path=self.files.path_of(self.file_list.currentIndex().row()),
                text=self.filter.text.text(),
            )
        )
        self.filter.show_count(len(self.findings.rows), len(self.findings.all_findings))
        self._lists.setCurrentIndex(0 if self.findings.rows else 1)
        row = self.findings.row_of(self.finding) if self.finding else -1
        if self.findings.rows:
            self.go_to(max(0, row))

    def go_to(self, row: int) -> None:
        """Select a row of the list and show its finding."""
        select_row(self.list, row)
        self._show_finding(self.findings.rows[row])

    def step(self, by: int) -> None:
        """Select the next finding, or the previous one for -1, wrapping around."""
        if self.findings.rows:
            row = self.findings.row_of(self.finding) if self.finding else -1
            self.go_to((row + by) % len(self.findings.rows))

    def _file_chosen(self, _now: QModelIndex, _before: QModelIndex) -> None:
        self._apply_filter()

    def _finding_chosen(self, index: QModelIndex, _before: QModelIndex) -> None:
        if index.isValid() and index.row() < len(self.findings.rows):
            self._show_finding(self.findings.rows[index.row()])

    def _show_finding(self, finding: ScanFinding) -> None:
        self.finding = finding
        self._location.setText(location_text(finding))
        self.rule.show_finding(finding, is_named=self.findings.is_named(finding))
        if self._excerpt.contains(finding.path, finding.cell, finding.line):
            self.source.mark_finding(finding)
        elif self._folder is not None:
            question = partial(read_excerpt, self._folder, finding.path, finding.cell, finding.line)
            run_in_background(self, question, partial(self._show_excerpt, finding))

    def _show_excerpt(self, finding: ScanFinding, excerpt: Excerpt) -> None:
        """Show an excerpt unless another finding was selected meanwhile."""
        if self.finding is not finding:
            return
        self._excerpt = excerpt
        self._sources.setCurrentIndex(1 if excerpt.problem else 0)
        if excerpt.problem:
            self._problem.setText(t(excerpt.problem, **excerpt.args))
            return
        neighbours = [
            other for other in self.findings.all_findings if (other.path, other.cell) == (excerpt.path, excerpt.cell)
        ]
        self.source.show_excerpt(excerpt, neighbours)
        self.source.mark_finding(finding)

    # Requests

    def open_editor(self) -> None:
        if self.finding is not None:
            self.location_opened.emit(self.finding.path, self.finding.line)

    def _open_chosen(self, _index: QModelIndex) -> None:
        self.open_editor()

    def _open_line(self, line: int) -> None:
        if self.finding is not None:
            self.location_opened.emit(self.finding.path, line)

    def _suppress(self) -> None:
        if self.finding is not None:
            self.suppress_requested.emit(self.finding)

    def retranslate(self) -> None:
        self.findings.forget_texts()
        self.filter.show_categories(self.findings.all_findings)
        self.filter.show_count(len(self.findings.rows), len(self.findings.all_findings))
        for view in (self.list, self.file_list):
            view.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the files where three columns do not fit; narrower still, put the source below the findings."""
        super().resizeEvent(event)
        self._file_card.setVisible(self.width() >= MIN_WIDTH_FOR_FILES)
        wide = self.width() >= MIN_WIDTH_FOR_COLUMNS
        orientation = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if self.splitter.orientation() != orientation:
            self.splitter.setOrientation(orientation)
