"""The steps towards a first comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel

from ui.widgets.basic import (
    Card,
    Sentence,
    label,
    primary_button,
    show_icon,
)

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

STEPS = (
    ("precision.start.how_target", "precision.start.how_target_text"),
    ("precision.start.how_golden", "precision.start.how_golden_text"),
    ("precision.start.how_compare", "precision.start.how_compare_text"),
)
REQUIRED_CAPTURES = 2


class GuideCard(Card):
    """Shown as long as the project has fewer than two captures."""

    capture_requested = Signal()

    def __init__(self) -> None:
        super().__init__("precision.start.how")
        self.setObjectName("precision_how")
        self._signs: list[QLabel] = []
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(10)
        grid.setColumnStretch(2, 1)
        for row, (title, text) in enumerate(STEPS):
            sign = QLabel()
            sign.setFixedSize(18, 18)
            self._signs.append(sign)
            parts: tuple[QWidget, ...] = (sign, label(title, "strong"), Sentence(text))
            for column, part in enumerate(parts):
                grid.addWidget(part, row, column, Qt.AlignmentFlag.AlignTop if column < 2 else Qt.AlignmentFlag(0))
        self.capture = primary_button("precision.start.go_capture", "precision_go_capture")
        self.capture.clicked.connect(self.capture_requested)
        self.body.addLayout(grid)
        self.body.addWidget(self.capture, 0, Qt.AlignmentFlag.AlignLeft)
        self.done: tuple[bool, ...] = ()
        self.show_progress(0, has_target=False, has_golden=False)

    def show_progress(self, captures: int, *, has_target: bool, has_golden: bool) -> None:
        """Tick the sides that are chosen; as long as none is, the captures that are there, the target's first."""
        is_chosen = has_target or has_golden
        self.done = (has_target, has_golden, False) if is_chosen else (captures > 0, captures > 1, False)
        for done, sign in zip(self.done, self._signs, strict=True):
            show_icon(sign, "check" if done else "chevron-right", "good" if done else "accent", 16)
        self.setVisible(captures < REQUIRED_CAPTURES)
