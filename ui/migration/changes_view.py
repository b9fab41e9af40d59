"""The changes that a migration would make: read them by file and hunk, decide, apply them somewhere else, undo."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from backends.migration.migrate.plan import changes
from studio.texts import t
from ui.asking import ask
from ui.migration.applied import AppliedCard
from ui.migration.cards import bare_card
from ui.migration.deciding import Deciding, deciding
from ui.migration.diff_delegate import DiffDelegate
from ui.migration.diff_model import DiffModel
from ui.migration.excerpt import read_lines
from ui.migration.hunk_panel import HunkPanel
from ui.migration.lists import list_view, select_row
from ui.migration.names import rule_text
from ui.migration.plan_files import PlanFileDelegate, PlanFiles
from ui.widgets import Empty, Sentence, button, label, primary_button, text_button

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtCore import QModelIndex
    from PySide6.QtGui import QResizeEvent

    from backends.migration.found import Found
    from backends.migration.migrate.changes import Changes, Hunk, Style
    from ui.migration.results import Scan

STYLES: tuple[tuple[Style, str, str], ...] = (
    ("minimal", "migration.changes.minimal", "migration.changes.minimal_text"),
    ("explicit", "migration.changes.explicit", "migration.changes.explicit_text"),
)
EMPTY, PLANNING, NOTHING, PLAN = range(4)
ROOM_FOR_FILES, ROOM_FOR_PANEL = 820, 600
ROOM_FOR_ABOUT, ROOM_FOR_ALL = 880, 640


class ChangesView(QWidget):
    """`apply_wanted`: to a copy, or to a git branch when True; nothing is written before. `decided`: the plan or what
    is decided on it is another."""

    apply_wanted = Signal(bool)
    decided = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("migration_changes")
        self.scan: Scan | None = None
        self.plan: Changes | None = None
        self.deciding = Deciding()
        self._folder: Path | None = None
        self._lines: dict[str, tuple[str, ...]] = {}
        self._found: dict[str, tuple[Found, ...]] = {}
        self._wanted: Style = "minimal"
        self._has_git = self._has_hunks = False
        self.files, self.diff = PlanFiles(), DiffModel()
        self.panel = HunkPanel()
        self.panel.decided.connect(self._decide_one)
        self.panel.edited.connect(self._edit)
        self.stack = QStackedWidget()
        empty = Empty(
            "migration", "migration.changes.empty", "migration.changes.empty_text", "migration.changes.plan",
            "migration_plan",
        )  # fmt: skip
        empty.clicked.connect(self.make_plan)
        planning = Empty("clock", "migration.changes.planning", "migration.changes.planning_text")
        nothing = Empty("check", "migration.changes.nothing", "migration.changes.nothing_text")
        for widget in (empty, planning, nothing, self._make_plan()):
            self.stack.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        self.applied = AppliedCard()
        column.addLayout(self._make_head())
        column.addWidget(self.applied)
        column.addWidget(self.stack, 1)
        self._show()

    def _make_head(self) -> QHBoxLayout:
        self.styles: dict[Style, QPushButton] = {}
        row = QHBoxLayout()
        row.setSpacing(6)
        for style, key, _ in STYLES:
            made = button(key, f"migration_style_{style}")
            made.setCheckable(True)
            made.setChecked(style == self._wanted)
            made.clicked.connect(partial(self.choose_style, style))
            self.styles[style] = made
            row.addWidget(made)
        self._about = Sentence()
        row.addSpacing(6)
        self._no_about = QWidget()
        row.addWidget(self._about, 1)
        row.addWidget(self._no_about, 1)
        self._all = text_button("migration.changes.accept_all", "migration.changes.accept_all")
        self._all.clicked.connect(partial(self._decide_all, True))
        self._no = text_button("migration.changes.reject_all", "migration.changes.reject_all")
        self._no.clicked.connect(partial(self._decide_all, False))
        self.branch = button("migration.changes.to_branch", "migration.changes.to_branch")
        self.branch.clicked.connect(partial(self.apply_wanted.emit, True))
        self.apply = primary_button("migration.changes.apply", "migration.changes.apply")
        self.apply.clicked.connect(partial(self.apply_wanted.emit, False))
        for widget in (self._all, self._no, self.branch, self.apply):
            row.addWidget(widget)
        return row

    def _make_plan(self) -> QWidget:
        self.file_list = list_view(self.files, PlanFileDelegate(), "migration_plan_files", "migration.files")
        self._delegate = DiffDelegate()
        self.list = list_view(self.diff, self._delegate, "migration_diff", "migration.changes.diff")
        self._delegate.toggled.connect(self.toggle)
        self.file_list.selectionModel().currentChanged.connect(self._file_chosen)
        self.list.selectionModel().currentChanged.connect(self._row_chosen)
        self.list.doubleClicked.connect(self._edit_chosen)
        self._file_card = bare_card(label("migration.files", "title"), self.file_list)
        self._panel_card = bare_card(label("migration.changes.why", "title"), self.panel)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        for widget in (
            self._file_card,
            bare_card(label("migration.changes.diff", "title"), self.list),
            self._panel_card,
        ):
            self.splitter.addWidget(widget)
        for place, stretch in enumerate((2, 6, 3)):
            self.splitter.setStretchFactor(place, stretch)
        self.splitter.setSizes([190, 560, 300])
        return self.splitter

    # The plan

    def show_scan(self, folder: Path, scan: Scan) -> None:
        """Another scan: a plan made of the one before is made again, with the decisions that still apply."""
        is_other = folder != self._folder
        self._folder, self.scan = folder, scan
        self._has_git = (folder / ".git").exists()
        if is_other:
            self.plan, self.deciding = None, Deciding()
        elif self.plan is not None:
            self.make_plan()
        self._show()

    def choose_style(self, style: Style) -> None:
        self._wanted = style
        for one, made in self.styles.items():
            made.setChecked(one == style)
        if self.plan is not None:
            self.make_plan()
        self._show()

    def make_plan(self) -> None:
        if self._folder is None or self.scan is None:
            return
        folder, findings, style = self._folder, self.scan.findings, self._wanted
        if self.plan is None:
            self.stack.setCurrentIndex(PLANNING)
        ask(self, partial(_planned, folder, findings, style), partial(self._planned, self.scan, style))

    def _planned(self, scan: Scan, style: Style, made: tuple[Changes, dict[str, tuple[str, ...]]]) -> None:
        if scan is not self.scan or style != self._wanted:
            return
        self.plan, self._lines = made
        self._found = found_by_hunk(self.plan, scan.findings)
        fresh = deciding(self.plan, self.deciding)
        # What somebody decided to leave is offered, not accepted.
        left = scan.left()
        mine = [name for name, found in self._found.items() if found and all(id(one) in left for one in found)]
        unsaid = tuple(name for name in mine if name not in fresh.chosen)
        self.deciding = fresh.decide(unsaid, False) if unsaid else fresh
        self._show()
        select_row(self.file_list, 0)
        self._show_diff()
        self._choose_first()

    # What is decided

    def toggle(self, id: str) -> None:
        hunk = self.deciding.hunks[id]
        self._decide((id,), not self.deciding.is_accepted(hunk))
        self._choose(id)

    def _decide_one(self, id: str, accept: bool) -> None:
        self._decide((id,), accept)

    def _decide_all(self, accept: bool) -> None:
        """Of the files that are shown."""
        files = self.files.chosen(self.file_list.currentIndex().row())
        self._decide(tuple(hunk.id for file in files for hunk in file.hunks if hunk.state != "yours"), accept)

    def _decide(self, ids: tuple[str, ...], accept: bool) -> None:
        self.deciding = self.deciding.decide(ids, accept)
        self._decided()

    def _edit(self, id: str, text: str | None) -> None:
        self.deciding = self.deciding.edit(id, text)
        self._decided()

    def _decided(self) -> None:
        chosen = self.panel.hunk
        self._show()
        self._show_diff()
        if chosen is not None:
            self._choose(chosen.id)

    # What is shown

    def _show(self) -> None:
        about = next(text for style, _, text in STYLES if style == self._wanted)
        self._about.setText(t(about))
        plan = self.plan
        hunks = tuple(plan.hunks()) if plan else ()
        self.stack.setCurrentIndex(EMPTY if plan is None else PLAN if hunks else NOTHING)
        accepted = len(self.deciding.inside)
        self._has_hunks = bool(hunks)
        self._fold()
        for widget in (self.branch, self.apply):
            widget.setEnabled(accepted > 0)
        if plan is not None:
            self.files.show_files(plan.files, self.deciding)
        self.decided.emit()

    def _fold(self) -> None:
        """What of the head there is room and use for."""
        self.apply.setVisible(self._has_hunks)
        for widget in (self._all, self._no):
            widget.setVisible(self._has_hunks and self.width() >= ROOM_FOR_ALL)
        self._about.setVisible(self.width() >= ROOM_FOR_ABOUT)
        self._no_about.setVisible(self.width() < ROOM_FOR_ABOUT)
        self.branch.setVisible(self._has_hunks and self._has_git)

    def _show_diff(self) -> None:
        self.diff.titles = {id: self._title(hunk) for id, hunk in self.deciding.hunks.items()}
        bar = self.list.verticalScrollBar()
        at = bar.value()
        files = self.files.chosen(self.file_list.currentIndex().row())
        self.diff.show_files(files, self.deciding, self._lines)
        self._delegate.longest = max((len(row.text.expandtabs(4)) for row in self.diff.rows), default=0)
        self.list.scheduleDelayedItemsLayout()
        bar.setValue(at)

    def _title(self, hunk: Hunk) -> str:
        found = self._found.get(hunk.id, ())
        titles = list(dict.fromkeys(rule_text(one, "title") for one in found)) or list(hunk.rules)
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
        """Selects the head of a hunk and says why it is there."""
        row = self.diff.row_of(id)
        if row >= 0:
            select_row(self.list, row)
        self._show_hunk(self.deciding.hunks[id])

    def _show_hunk(self, hunk: Hunk) -> None:
        self.panel.show_hunk(hunk, self._found.get(hunk.id, ()), self.deciding)

    def _file_chosen(self, _now: QModelIndex, _before: QModelIndex) -> None:
        self._show_diff()
        self.list.scrollToTop()
        self._choose_first()

    def _row_chosen(self, now: QModelIndex, _before: QModelIndex) -> None:
        row = now.data(Qt.ItemDataRole.UserRole) if now.isValid() else None
        if row is not None and row.hunk is not None:
            self._show_hunk(row.hunk)

    def _edit_chosen(self, _index: QModelIndex) -> None:
        self.panel.open_editor()

    def sentence(self) -> str:
        """What is decided, and that nothing is written yet."""
        hunks = tuple(self.deciding.hunks.values())
        if self.plan is None or not hunks:
            return t("migration.changes.empty_text")
        yours = sum(map(self.deciding.is_yours, hunks))
        counts = {"accepted": len(self.deciding.inside), "offered": len(hunks) - yours, "yours": yours}
        return t("migration.changes.count", **counts)

    def wanted_style(self) -> Style:
        return self._wanted

    def retranslate(self) -> None:
        self._show()
        self._show_diff()
        if self.panel.hunk is not None:
            self._choose(self.panel.hunk.id)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()
        self._file_card.setVisible(self.width() >= ROOM_FOR_FILES)
        wide = self.width() >= ROOM_FOR_PANEL
        wanted = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if self.splitter.orientation() != wanted:
            self.splitter.setOrientation(wanted)


def _planned(folder: Path, findings: tuple[Found, ...], style: Style) -> tuple[Changes, dict[str, tuple[str, ...]]]:
    """The plan, and the lines of its files for the context of the hunks."""
    plan = changes(folder, findings, style)
    return plan, {file.path: read_lines(folder, file.path) for file in plan.files}


def found_by_hunk(plan: Changes, findings: tuple[Found, ...]) -> dict[str, tuple[Found, ...]]:
    """The findings that each hunk answers: on its lines, or by its rules where a cell has lines of its own."""
    by_file: dict[str, list[Found]] = {}
    for found in findings:
        by_file.setdefault(found.path, []).append(found)
    return {hunk.id: tuple(_asking(hunk, by_file.get(hunk.path, []))) for hunk in plan.hunks()}


def _asking(hunk: Hunk, findings: list[Found]) -> list[Found]:
    mine = [found for found in findings if found.rule in hunk.rules and found.cell == hunk.cell]
    if hunk.cell is not None:
        return mine
    return [found for found in mine if found.line <= hunk.last and found.end >= hunk.first]
