"""The row above the diff: the style of the migration, and actions on its plan."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from studio.texts import t
from ui.widgets.basic import (
    Sentence,
    button,
    primary_button,
    text_button,
)

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from backends.migration.migrate.changes import Style

STYLES: tuple[tuple[Style, str, str], ...] = (
    ("minimal", "migration.changes.minimal", "migration.changes.minimal_text"),
    ("explicit", "migration.changes.explicit", "migration.changes.explicit_text"),
)
MIN_WIDTH_FOR_ABOUT, MIN_WIDTH_FOR_ALL = 880, 640


class ChangesHeader(QWidget):
    """`all_decided`: whether all visible hunks are accepted; `apply_requested`: True for a git branch, False for a
    copy."""

    style_chosen = Signal(str)
    all_decided = Signal(bool)
    apply_requested = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.plan_style: Style = "minimal"
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
            style_button = button(key, f"migration_style_{style}")
            style_button.setCheckable(True)
            style_button.setChecked(style == self.plan_style)
            style_button.clicked.connect(partial(self.style_chosen.emit, style))
            self.styles[style] = style_button
            self._row.addWidget(style_button)
        self._about, self._about_spacer = Sentence(), QWidget()
        self._row.addSpacing(6)
        self._row.addWidget(self._about, 1)
        self._row.addWidget(self._about_spacer, 1)

    def _add_actions(self) -> None:
        self._accept_all = text_button("migration.changes.accept_all", "migration.changes.accept_all")
        self._accept_all.clicked.connect(partial(self.all_decided.emit, True))
        self._reject_all = text_button("migration.changes.reject_all", "migration.changes.reject_all")
        self._reject_all.clicked.connect(partial(self.all_decided.emit, False))
        self.branch = button("migration.changes.to_branch", "migration.changes.to_branch")
        self.branch.clicked.connect(partial(self.apply_requested.emit, True))
        self.apply = primary_button("migration.changes.apply", "migration.changes.apply")
        self.apply.clicked.connect(partial(self.apply_requested.emit, False))
        for widget in (self._accept_all, self._reject_all, self.branch, self.apply):
            self._row.addWidget(widget)

    def choose_style(self, style: Style) -> None:
        self.plan_style = style
        for button_style, style_button in self.styles.items():
            style_button.setChecked(button_style == style)
        self.retranslate()

    def show_plan(self, accepted: int, *, has_hunks: bool, has_git: bool) -> None:
        self._has_hunks, self._has_git = has_hunks, has_git
        for widget in (self.branch, self.apply):
            widget.setEnabled(accepted > 0)
        self._hide_what_lacks_room()

    def retranslate(self) -> None:
        self._about.setText(t(next(text for style, _, text in STYLES if style == self.plan_style)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._hide_what_lacks_room()

    def _hide_what_lacks_room(self) -> None:
        """Show the actions that apply and fit."""
        self.apply.setVisible(self._has_hunks)
        for widget in (self._accept_all, self._reject_all):
            widget.setVisible(self._has_hunks and self.width() >= MIN_WIDTH_FOR_ALL)
        self._about.setVisible(self.width() >= MIN_WIDTH_FOR_ABOUT)
        self._about_spacer.setVisible(self.width() < MIN_WIDTH_FOR_ABOUT)
        self.branch.setVisible(self._has_hunks and self._has_git)
