"""The panes below the lanes, one tab each; they follow the selection in the view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QStackedWidget, QToolButton, QVBoxLayout, QWidget

from backends.timeline.tables.sheets import holds_tables_only
from ui.timeline.panes.data_pane import DataPane
from ui.timeline.panes.matches_pane import MatchesPane
from ui.timeline.panes.notes_pane import NotesPane
from ui.timeline.panes.range_pane import RangePane
from ui.timeline.panes.slice_pane import SlicePane
from ui.timeline.panes.tables_pane import TablesPane
from ui.widgets.basic import show_icon
from ui.widgets.localized import localize
from ui.widgets.tabs import Tabs

if TYPE_CHECKING:
    from backends.timeline.profile_reader import Opened
    from ui.services.session import Session
    from ui.timeline.state.selection import TimeRange
    from ui.timeline.state.view_state import ViewState

KEYS = {
    "slice": "timeline.pane.slice", "range": "timeline.pane.range", "search": "timeline.pane.search",
    "notes": "timeline.pane.notes", "data": "timeline.pane.data", "tables": "timeline.pane.tables",
}  # fmt: skip
TAB_NAMES = tuple(KEYS)
NO_LIMIT_PX = 16_777_215  # Qt's own: no limit


class Panes(QWidget):
    """`find_requested`: the user wants all slices of a name; `folded`: whether only the row of tabs is left."""

    find_requested = Signal(str)
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
        self._state.selection.slice_chosen.connect(self._follow_slice)
        self._state.selection.range_chosen.connect(self._follow_range)
        self.range.find_requested.connect(self._find)
        self.slice.find_requested.connect(self._find)
        self.tables.find_requested.connect(self._find)
        self.tables.name_searched.connect(self.find_requested)

    @property
    def is_folded(self) -> bool:
        return self._stack.isHidden()

    @property
    def folded_height(self) -> int:
        margins = self.contentsMargins()
        tabs = max(self.tabs.sizeHint().height(), self._fold.sizeHint().height())
        return tabs + margins.top() + margins.bottom()

    def show_opened(self, opened: Opened | None) -> None:
        """Show another profile, or none."""
        self.data.show_opened(opened)
        self._can_fold = opened is None or not holds_tables_only(opened.trace.meta)
        self._fold.setVisible(self._can_fold)
        if opened is None:
            self.slice.clear()
        elif not self._can_fold:
            self._unfold()
            self.show_tab("tables")

    def toggle(self) -> None:
        """Fold or unfold the panes, unless there are no lanes: then nothing would be left to see."""
        if self._can_fold or self.is_folded:
            self._toggle()

    def _toggle(self) -> None:
        self._stack.setVisible(self.is_folded)
        self.setMaximumHeight(self.folded_height if self.is_folded else NO_LIMIT_PX)
        self._show_fold()
        self.folded.emit(self.is_folded)

    def _unfold(self) -> None:
        if self.is_folded:
            self.toggle()

    def _show_fold(self) -> None:
        show_icon(self._fold, "chevron-up" if self.is_folded else "chevron-down", "dim", 16)
        for setter in (self._fold.setToolTip, self._fold.setAccessibleName):
            localize(setter, "timeline.pane.unfold" if self.is_folded else "timeline.pane.fold")

    def show_tab(self, name: str) -> None:
        """Show the tab `name`, one of TAB_NAMES; the panes are unfolded if necessary."""
        self.tabs.setCurrentIndex(TAB_NAMES.index(name))
        self._unfold()

    @property
    def current_tab(self) -> str:
        return TAB_NAMES[self.tabs.currentIndex()]

    def add_note(self) -> None:
        """Add a note at the selected range or slice, else in the middle of the view, and start editing it."""
        if self._state.trace is not None:
            self.show_tab("notes")
            self.notes.add()

    def choose_note(self, number: int) -> None:
        """Show the note of a mark that was clicked in the view."""
        self.show_tab("notes")
        self.notes.choose(number)

    def _follow_slice(self, index: int) -> None:
        """Show the selected slice, unless it was chosen in a list: then that list stays visible."""
        if index >= 0 and not self.matches.is_jumping and not self.tables.is_jumping:
            self.tabs.setCurrentIndex(TAB_NAMES.index("slice"))

    def _follow_range(self, chosen: TimeRange | None) -> None:
        if chosen is not None:
            self.tabs.setCurrentIndex(TAB_NAMES.index("range"))

    def _find(self, name: str) -> None:
        self.show_tab("search")
        self.find_requested.emit(name)
        self._state.lanes_focus_requested.emit()
