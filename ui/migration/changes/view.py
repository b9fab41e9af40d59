"""The changes view: read the planned changes by file and hunk, decide, apply them elsewhere, undo."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from studio.texts import t
from ui.migration.changes.applied_card import AppliedCard
from ui.migration.changes.diff_delegate import DiffDelegate
from ui.migration.changes.diff_model import DiffModel
from ui.migration.changes.header import ChangesHeader
from ui.migration.changes.hunk_panel import HunkPanel
from ui.migration.changes.plan import (
    PlanDecisions,
    count_new_hunks,
    make_plan,
    reject_suppressed,
    start_decisions,
)
from ui.migration.changes.plan_files import PlanFileDelegate, PlanFileModel
from ui.migration.finding_texts import counted_text, rule_text
from ui.migration.panes import edge_card, list_view, select_row
from ui.services.background import run_in_background
from ui.widgets.basic import Empty, label

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtCore import QModelIndex
    from PySide6.QtGui import QResizeEvent

    from backends.migration.finding import ScanFinding
    from backends.migration.migrate.changes import Changes, Hunk, Style
    from ui.migration.changes.plan import Plan
    from ui.migration.run_results import Scan

EMPTY, PLANNING, NOTHING, PLAN = range(4)
MIN_WIDTH_FOR_FILES, MIN_WIDTH_FOR_PANEL = 820, 600


class ChangesView(QWidget):
    """`apply_requested`: True for a git branch, False for a copy; nothing is written before. `decisions_changed`: the
    plan, or the decisions on it, changed."""

    apply_requested = Signal(bool)
    decisions_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("migration_changes")
        self.scan: Scan | None = None
        self.plan: Changes | None = None
        self.decisions = PlanDecisions()
        self._folder: Path | None = None
        self._lines: dict[str, tuple[str, ...]] = {}
        self._findings: dict[str, tuple[ScanFinding, ...]] = {}
        self._has_git = False
        self._new_hunks = 0
        self.files, self.diff = PlanFileModel(), DiffModel()
        self.panel = HunkPanel()
        self.panel.decided.connect(self._decide_hunk)
        self.panel.edited.connect(self._edit)
        self.stack = QStackedWidget()
        empty = Empty(
            "migration",
            "migration.changes.empty",
            "migration.changes.empty_text",
            "migration.changes.plan",
            "migration_plan",
        )
        empty.clicked.connect(self.make_plan)
        planning = Empty("clock", "migration.changes.planning", "migration.changes.planning_text")
        nothing = Empty("check", "migration.changes.nothing", "migration.changes.nothing_text")
        for widget in (empty, planning, nothing, self._build_plan()):
            self.stack.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        self.applied = AppliedCard()
        self.header = ChangesHeader()
        self.apply, self.branch, self.styles = self.header.apply, self.header.branch, self.header.styles
        self.header.style_chosen.connect(self.choose_style)
        self.header.all_decided.connect(self._decide_all)
        self.header.apply_requested.connect(self.apply_requested)
        column.addWidget(self.header)
        column.addWidget(self.applied)
        column.addWidget(self.stack, 1)
        self._show()

    def _build_plan(self) -> QWidget:
        self.file_list = list_view(self.files, PlanFileDelegate(), "migration_plan_files", "migration.files")
        self._delegate = DiffDelegate()
        self.list = list_view(self.diff, self._delegate, "migration_diff", "migration.changes.diff")
        self._delegate.toggled.connect(self.toggle)
        self.file_list.selectionModel().currentChanged.connect(self._file_chosen)
        self.list.selectionModel().currentChanged.connect(self._row_chosen)
        self.list.doubleClicked.connect(self._edit_chosen)
        self._file_card = edge_card(label("migration.files", "title"), self.file_list)
        self._panel_card = edge_card(label("migration.changes.why", "title"), self.panel)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        for widget in (
            self._file_card,
            edge_card(label("migration.changes.diff", "title"), self.list),
            self._panel_card,
        ):
            self.splitter.addWidget(widget)
        for column, stretch in enumerate((2, 6, 3)):
            self.splitter.setStretchFactor(column, stretch)
        self.splitter.setSizes([190, 560, 300])
        return self.splitter

    # Plan

    def _show_git(self, folder: Path, has_git: bool) -> None:
        if folder == self._folder:
            self._has_git = has_git
            self._show()

    def show_scan(self, folder: Path, scan: Scan) -> None:
        """Show another scan; an existing plan is made again, with the decisions that still apply."""
        is_other = folder != self._folder
        self._folder, self.scan = folder, scan
        if is_other:
            self._has_git = False
            run_in_background(self, (folder / ".git").exists, partial(self._show_git, folder))
            self.plan, self.decisions, self._new_hunks = None, PlanDecisions(), 0
            self.panel.show_hunk(None, (), None)
        elif self.plan is not None:
            self.make_plan()
        self._show()

    def choose_style(self, style: Style) -> None:
        self.header.choose_style(style)
        if self.plan is not None:
            self.make_plan()
        self._show()

    def make_plan(self) -> None:
        if self._folder is None or self.scan is None:
            return
        style = self.header.plan_style
        if self.plan is None:
            self.stack.setCurrentIndex(PLANNING)
        question = partial(make_plan, self._folder, self.scan.findings, style)
        run_in_background(self, question, partial(self._show_plan, self.scan, style))

    def _show_plan(self, scan: Scan, style: Style, plan: Plan) -> None:
        if scan is not self.scan or style != self.header.plan_style:
            return
        before = self.decisions
        self.plan, self._lines, self._findings = plan.changes, plan.lines, plan.findings
        decisions = start_decisions(plan.changes, before)
        self.decisions = reject_suppressed(decisions, plan.findings, scan.suppressed_ids())
        self._new_hunks = count_new_hunks(before, plan.changes)
        self._show()
        select_row(self.file_list, 0)
        self._show_diff()
        self._choose_first()

    # Decisions

    def toggle(self, id: str) -> None:
        hunk = self.decisions.hunks[id]
        self._decide((id,), not self.decisions.is_accepted(hunk))
        self._choose(id)

    def _decide_hunk(self, id: str, accept: bool) -> None:
        self._decide((id,), accept)

    def _decide_all(self, accept: bool) -> None:
        """Decide on all hunks of the visible files."""
        files = self.files.files_at(self.file_list.currentIndex().row())
        self._decide(tuple(hunk.id for file in files for hunk in file.hunks if hunk.state != "yours"), accept)

    def _decide(self, ids: tuple[str, ...], accept: bool) -> None:
        self.decisions = self.decisions.decide(ids, accept)
        self._decisions_changed()

    def _edit(self, id: str, text: str | None) -> None:
        self.decisions = self.decisions.edit(id, text)
        self._decisions_changed()

    def _decisions_changed(self) -> None:
        self._new_hunks = 0
        chosen = self.panel.hunk
        self._show()
        self._show_diff()
        if chosen is not None:
            self._choose(chosen.id)

    # Display

    def _show(self) -> None:
        plan = self.plan
        has_hunks = plan is not None and any(True for _ in plan.hunks())
        self.stack.setCurrentIndex(EMPTY if plan is None else PLAN if has_hunks else NOTHING)
        self.header.show_plan(len(self.decisions.accepted), has_hunks=has_hunks, has_git=self._has_git)
        if plan is not None:
            self.files.show_files(plan.files, self.decisions)
        self.decisions_changed.emit()

    def _show_diff(self) -> None:
        self.diff.titles = {id: self._title(hunk) for id, hunk in self.decisions.hunks.items()}
        bar = self.list.verticalScrollBar()
        scroll_position = bar.value()
        files = self.files.files_at(self.file_list.currentIndex().row())
        self.diff.show_files(files, self.decisions, self._lines)
        self._delegate.max_line_length = max((len(row.text.expandtabs(4)) for row in self.diff.rows), default=0)
        self.list.scheduleDelayedItemsLayout()
        bar.setValue(scroll_position)

    def _title(self, hunk: Hunk) -> str:
        findings = self._findings.get(hunk.id, ())
        titles = list(dict.fromkeys(rule_text(finding, "title") for finding in findings)) or list(hunk.rules)
        if len(titles) > 1:
            return t("migration.changes.and_more", title=titles[0], n=len(titles) - 1)
        return titles[0] if titles else ""

    def _choose_first(self) -> None:
        first = next((row.hunk for row in self.diff.rows if row.hunk is not None), None)
        if first is not None:
            self._choose(first.id)
        else:
            self.panel.show_hunk(None, (), None)

    def _choose(self, id: str) -> None:
        """Select the head of a hunk and show why it is there."""
        row = self.diff.row_of(id)
        if row >= 0:
            select_row(self.list, row)
        self._show_hunk(self.decisions.hunks[id])

    def _show_hunk(self, hunk: Hunk) -> None:
        self.panel.show_hunk(hunk, self._findings.get(hunk.id, ()), self.decisions)

    def _file_chosen(self, _now: QModelIndex, _before: QModelIndex) -> None:
        self._show_diff()
        self.list.scrollToTop()
        self._choose_first()

    def _row_chosen(self, index: QModelIndex, _before: QModelIndex) -> None:
        row = index.data(Qt.ItemDataRole.UserRole) if index.isValid() else None
        if row is not None and row.hunk is not None:
            self._show_hunk(row.hunk)

    def _edit_chosen(self, _index: QModelIndex) -> None:
        self.panel.open_editor()

    def sentence(self) -> str:
        """Return what is decided, what is new in the plan, and that nothing is written yet."""
        hunks = tuple(self.decisions.hunks.values())
        if self.plan is None or not hunks:
            return t("migration.changes.nothing_text" if self.plan else "migration.changes.unplanned")
        yours = sum(map(self.decisions.is_manual, hunks))
        accepted, offered = len(self.decisions.accepted), len(hunks) - yours
        sentences = [t("migration.changes.count", accepted=accepted, offered=offered)]
        if yours:
            sentences.append(counted_text("migration.changes.left_one", "migration.changes.left", yours))
        if self._new_hunks:
            sentences.append(counted_text("migration.changes.fresh_one", "migration.changes.fresh", self._new_hunks))
        return t("migration.changes.space").join((*sentences, t("migration.changes.unwritten")))

    def retranslate(self) -> None:
        self._show()
        self._show_diff()
        if self.panel.hunk is not None:
            self._choose(self.panel.hunk.id)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._file_card.setVisible(self.width() >= MIN_WIDTH_FOR_FILES)
        wide = self.width() >= MIN_WIDTH_FOR_PANEL
        orientation = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if self.splitter.orientation() != orientation:
            self.splitter.setOrientation(orientation)
