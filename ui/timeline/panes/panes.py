"""The panes below the lanes, one tab each; they follow what is chosen in the view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QStackedWidget, QToolButton, QVBoxLayout, QWidget

from backends.timeline.tables.sheets import holds_tables_only
from ui.say import say
from ui.tabs import Tabs
from ui.timeline.panes.data_pane import DataPane
from ui.timeline.panes.matches_pane import MatchesPane
from ui.timeline.panes.notes_pane import NotesPane
from ui.timeline.panes.range_pane import RangePane
from ui.timeline.panes.slice_pane import SlicePane
from ui.timeline.panes.tables_pane import TablesPane
from ui.widgets import show_icon

if TYPE_CHECKING:
    from backends.timeline.read import Opened
    from ui.session import Session
    from ui.timeline.state import TimeRange, ViewState

KEYS = {
    "slice": "timeline.pane.slice", "range": "timeline.pane.range", "search": "timeline.pane.search",
    "notes": "timeline.pane.notes", "data": "timeline.pane.data", "tables": "timeline.pane.tables",
}  # fmt: skip
NAMES = tuple(KEYS)
MOST_PX = 16_777_215  # Qt's own: no limit


class Panes(QWidget):
    """`find_wanted`: all slices of a name are to be found; `folded`: only the row of tabs is left, or all is back."""

    find_wanted = Signal(str)
    folded = Signal(bool)

    def __init__(self, session: Session, state: ViewState) -> None:
        super().__init__()
        self.setObjectName("timeline_panes")
        self._state = state
        self._can_fold = True
        self.tabs = Tabs("timeline_tabs", "timeline.pane.tabs", tuple(KEYS.values()))
        self.slice = SlicePane(session, state)
        self.range = RangePane(session, state)
        self.matches = MatchesPane(state)
        self.notes = NotesPane(session, state)
        self.data = DataPane(state)
        self.tables = TablesPane(session, state)
        self._stack = QStackedWidget()
        for pane in (self.slice, self.range, self.matches, self.notes, self.data, self.tables):
            self._stack.addWidget(pane)
        self._stack.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self._fold = QToolButton()
        self._fold.setObjectName("timeline_fold_panes")
        self._fold.setProperty("role", "quiet")
        self._column()
        self._connect()
        self._show_fold()

    def _column(self) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.tabs)
        row.addStretch(1)
        row.addWidget(self._fold)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(row)
        column.addWidget(self._stack, 1)

    def _connect(self) -> None:
        self.tabs.currentChanged.connect(self._stack.setCurrentIndex)
        self.tabs.tabBarClicked.connect(lambda _tab: self._unfold())
        self._fold.clicked.connect(self.toggle)
        self._state.slice_chosen.connect(self._follow_slice)
        self._state.range_chosen.connect(self._follow_range)
        self.range.find_wanted.connect(self._find)
        self.slice.find_wanted.connect(self._find)
        self.tables.find_wanted.connect(self._find)
        self.tables.slice_shown.connect(self.find_wanted)

    @property
    def is_folded(self) -> bool:
        return self._stack.isHidden()

    @property
    def folded_height(self) -> int:
        margins = self.contentsMargins()
        tabs = max(self.tabs.sizeHint().height(), self._fold.sizeHint().height())
        return tabs + margins.top() + margins.bottom()

    def show_opened(self, opened: Opened | None) -> None:
        """Another profile, or none."""
        self.data.show_opened(opened)
        self._can_fold = opened is None or not holds_tables_only(opened.trace.meta)
        self._fold.setVisible(self._can_fold)
        if opened is None:
            self.slice.clear()
        elif not self._can_fold:
            self._unfold()
            self.show_tab("tables")

    def toggle(self) -> None:
        """Folded, they would leave nothing to be seen where there are no lanes."""
        if self._can_fold or self.is_folded:
            self._toggle()

    def _toggle(self) -> None:
        self._stack.setVisible(self.is_folded)
        self.setMaximumHeight(self.folded_height if self.is_folded else MOST_PX)
        self._show_fold()
        self.folded.emit(self.is_folded)

    def _unfold(self) -> None:
        if self.is_folded:
            self.toggle()

    def _show_fold(self) -> None:
        show_icon(self._fold, "chevron-up" if self.is_folded else "chevron-down", "dim", 16)
        for setter in ("setToolTip", "setAccessibleName"):
            say(self._fold, setter, "timeline.pane.unfold" if self.is_folded else "timeline.pane.fold")

    def show_tab(self, name: str) -> None:
        """One of NAMES; unfolds where they are folded."""
        self.tabs.setCurrentIndex(NAMES.index(name))
        self._unfold()

    @property
    def shown(self) -> str:
        return NAMES[self.tabs.currentIndex()]

    def add_note(self) -> None:
        """At the range or slice that is chosen, else in the middle of what is in view; its text is typed at once."""
        if self._state.trace is not None:
            self.show_tab("notes")
            self.notes.add()

    def choose_note(self, number: int) -> None:
        """One of the state's marks was clicked in the view."""
        self.show_tab("notes")
        self.notes.choose(number)

    def _follow_slice(self, index: int) -> None:
        """Who clicks one row of a list after the other stays at the list."""
        if index >= 0 and not self.matches.is_jumping and not self.tables.is_jumping:
            self.tabs.setCurrentIndex(NAMES.index("slice"))

    def _follow_range(self, chosen: TimeRange | None) -> None:
        if chosen is not None:
            self.tabs.setCurrentIndex(NAMES.index("range"))

    def _find(self, name: str) -> None:
        self.show_tab("search")
        self.find_wanted.emit(name)
        self._state.lanes_wanted.emit()
