"""Above the diff: the style of the migration, and what can be done with its plan."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from studio.texts import t
from ui.widgets import Sentence, button, primary_button, text_button

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from backends.migration.migrate.changes import Style

STYLES: tuple[tuple[Style, str, str], ...] = (
    ("minimal", "migration.changes.minimal", "migration.changes.minimal_text"),
    ("explicit", "migration.changes.explicit", "migration.changes.explicit_text"),
)
ROOM_FOR_ABOUT, ROOM_FOR_ALL = 880, 640


class ChangesHead(QWidget):
    """`all_decided`: whether all hunks that are shown are accepted. `apply_wanted`: to a git branch when True."""

    style_chosen = Signal(str)
    all_decided = Signal(bool)
    apply_wanted = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.wanted: Style = "minimal"
        self._has_hunks = self._has_git = False
        self.styles: dict[Style, QPushButton] = {}
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(6)
        self._add_styles()
        self._add_actions()
        self.retranslate()

    def _add_styles(self) -> None:
        for style, key, _ in STYLES:
            made = button(key, f"migration_style_{style}")
            made.setCheckable(True)
            made.setChecked(style == self.wanted)
            made.clicked.connect(partial(self.style_chosen.emit, style))
            self.styles[style] = made
            self._row.addWidget(made)
        self._about, self._no_about = Sentence(), QWidget()
        self._row.addSpacing(6)
        self._row.addWidget(self._about, 1)
        self._row.addWidget(self._no_about, 1)

    def _add_actions(self) -> None:
        self._all = text_button("migration.changes.accept_all", "migration.changes.accept_all")
        self._all.clicked.connect(partial(self.all_decided.emit, True))
        self._no = text_button("migration.changes.reject_all", "migration.changes.reject_all")
        self._no.clicked.connect(partial(self.all_decided.emit, False))
        self.branch = button("migration.changes.to_branch", "migration.changes.to_branch")
        self.branch.clicked.connect(partial(self.apply_wanted.emit, True))
        self.apply = primary_button("migration.changes.apply", "migration.changes.apply")
        self.apply.clicked.connect(partial(self.apply_wanted.emit, False))
        for widget in (self._all, self._no, self.branch, self.apply):
            self._row.addWidget(widget)

    def choose(self, style: Style) -> None:
        self.wanted = style
        for one, made in self.styles.items():
            made.setChecked(one == style)
        self.retranslate()

    def show_plan(self, accepted: int, *, has_hunks: bool, has_git: bool) -> None:
        self._has_hunks, self._has_git = has_hunks, has_git
        for widget in (self.branch, self.apply):
            widget.setEnabled(accepted > 0)
        self._fold()

    def retranslate(self) -> None:
        self._about.setText(t(next(text for style, _, text in STYLES if style == self.wanted)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()

    def _fold(self) -> None:
        """What there is room and use for."""
        self.apply.setVisible(self._has_hunks)
        for widget in (self._all, self._no):
            widget.setVisible(self._has_hunks and self.width() >= ROOM_FOR_ALL)
        self._about.setVisible(self.width() >= ROOM_FOR_ABOUT)
        self._no_about.setVisible(self.width() < ROOM_FOR_ABOUT)
        self.branch.setVisible(self._has_hunks and self._has_git)
