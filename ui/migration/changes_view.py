"""The changes that a migration would make: read them by file and hunk, decide, apply them somewhere else, undo."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from studio.texts import t
from ui.asking import ask
from ui.migration.applied import AppliedCard
from ui.migration.cards import bare_card
from ui.migration.changes_head import ChangesHead
from ui.migration.deciding import Deciding, count_fresh, deciding
from ui.migration.diff_delegate import DiffDelegate
from ui.migration.diff_model import DiffModel
from ui.migration.hunk_panel import HunkPanel
from ui.migration.lists import list_view, select_row
from ui.migration.names import counted, rule_text
from ui.migration.plan import make_plan
from ui.migration.plan_files import PlanFileDelegate, PlanFiles
from ui.widgets import Empty, label

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtCore import QModelIndex
    from PySide6.QtGui import QResizeEvent

    from backends.migration.found import Found
    from backends.migration.migrate.changes import Changes, Hunk, Style
    from ui.migration.plan import Plan
    from ui.migration.results import Scan

EMPTY, PLANNING, NOTHING, PLAN = range(4)
ROOM_FOR_FILES, ROOM_FOR_PANEL = 820, 600


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
        self._has_git = False
        self._fresh = 0
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
        self.head = ChangesHead()
        self.apply, self.branch, self.styles = self.head.apply, self.head.branch, self.head.styles
        self.head.style_chosen.connect(self.choose_style)
        self.head.all_decided.connect(self._decide_all)
        self.head.apply_wanted.connect(self.apply_wanted)
        column.addWidget(self.head)
        column.addWidget(self.applied)
        column.addWidget(self.stack, 1)
        self._show()

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
            self.plan, self.deciding, self._fresh = None, Deciding(), 0
            self.panel.show_hunk(None, (), None)
        elif self.plan is not None:
            self.make_plan()
        self._show()

    def choose_style(self, style: Style) -> None:
        self.head.choose(style)
        if self.plan is not None:
            self.make_plan()
        self._show()

    def make_plan(self) -> None:
        if self._folder is None or self.scan is None:
            return
        style = self.head.wanted
        if self.plan is None:
            self.stack.setCurrentIndex(PLANNING)
        question = partial(make_plan, self._folder, self.scan.findings, style)
        ask(self, question, partial(self._planned, self.scan, style))

    def _planned(self, scan: Scan, style: Style, made: Plan) -> None:
        if scan is not self.scan or style != self.head.wanted:
            return
        before = self.deciding
        self.plan, self._lines, self._found = made.changes, made.lines, made.found
        fresh = deciding(made.changes, before)
        # What somebody decided to leave is offered, not accepted.
        left = scan.left()
        mine = [name for name, found in self._found.items() if found and all(id(one) in left for one in found)]
        unsaid = tuple(name for name in mine if name not in fresh.chosen)
        self.deciding = fresh.decide(unsaid, False) if unsaid else fresh
        self._fresh = count_fresh(before, made.changes)
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
        self._fresh = 0
        chosen = self.panel.hunk
        self._show()
        self._show_diff()
        if chosen is not None:
            self._choose(chosen.id)

    # What is shown

    def _show(self) -> None:
        plan = self.plan
        has_hunks = plan is not None and any(True for _ in plan.hunks())
        self.stack.setCurrentIndex(EMPTY if plan is None else PLAN if has_hunks else NOTHING)
        self.head.show_plan(len(self.deciding.inside), has_hunks=has_hunks, has_git=self._has_git)
        if plan is not None:
            self.files.show_files(plan.files, self.deciding)
        self.decided.emit()

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
        """What is decided, what is new since it was last shown, and that nothing is written yet."""
        hunks = tuple(self.deciding.hunks.values())
        if self.plan is None or not hunks:
            return t("migration.changes.nothing_text" if self.plan else "migration.changes.unplanned")
        yours = sum(map(self.deciding.is_yours, hunks))
        accepted, offered = len(self.deciding.inside), len(hunks) - yours
        said = [t("migration.changes.count", accepted=accepted, offered=offered)]
        if yours:
            said.append(counted("migration.changes.left_one", "migration.changes.left", yours))
        if self._fresh:
            said.append(counted("migration.changes.fresh_one", "migration.changes.fresh", self._fresh))
        return t("migration.changes.space").join((*said, t("migration.changes.unwritten")))

    def wanted_style(self) -> Style:
        return self.head.wanted

    def retranslate(self) -> None:
        self._show()
        self._show_diff()
        if self.panel.hunk is not None:
            self._choose(self.panel.hunk.id)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._file_card.setVisible(self.width() >= ROOM_FOR_FILES)
        wide = self.width() >= ROOM_FOR_PANEL
        wanted = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if self.splitter.orientation() != wanted:
            self.splitter.setOrientation(wanted)
