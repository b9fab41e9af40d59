"""The choice of what is compared: both sides, how their steps and ranks pair up, and the options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout

from ui.precision.comparison.pairs_choice import PairsChoice
from ui.precision.comparison.side_input import SideInput
from ui.widgets.basic import (
    Card,
    Sentence,
    line,
    primary_button,
    text_button,
)
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ui.precision.captures import Capture

GUTTER = 28


class SidesCard(Card):
    """`sides_changed` carries the folders that are chosen."""

    compare_requested = Signal()
    sides_changed = Signal(tuple)

    def __init__(self) -> None:
        super().__init__("precision.start.pick")
        self.setObjectName("precision_pick")
        self.target = SideInput("target", "precision.start.target", "precision.start.target_hint")
        self.golden = SideInput("golden", "precision.start.golden", "precision.start.golden_hint")
        self.second_golden = SideInput("again", "precision.start.again", "precision.start.again_hint")
        self.pairs = PairsChoice()
        self.msprobe = QCheckBox()
        self.msprobe.setObjectName("precision_msprobe")
        localize(self.msprobe.setText, "precision.start.msprobe")
        localize(self.msprobe.setToolTip, "precision.start.msprobe_hint")
        self._make_buttons()
        self._build()
        for side in (self.target, self.golden, self.second_golden):
            side.chosen.connect(self._update)
        self._update()

    def _make_buttons(self) -> None:
        self.swap = text_button("precision.start.swap", "precision_swap")
        self.swap.clicked.connect(self._swap)
        self.toggle_again = text_button("precision.start.add_again", "precision_add_again")
        self.toggle_again.clicked.connect(self._toggle_again)
        self.compare = primary_button("precision.start.compare", "precision_compare")
        self.compare.clicked.connect(self._request_compare)
        self.header.addWidget(self.swap)

    def _build(self) -> None:
        sides = QHBoxLayout()
        sides.setSpacing(GUTTER)
        sides.addWidget(self.target, 1)
        sides.addWidget(self.golden, 1)
        others = QHBoxLayout()
        others.setSpacing(GUTTER)
        others.addWidget(self.msprobe)
        others.addWidget(self.toggle_again)
        others.addStretch(1)
        last = QHBoxLayout()
        self._start_hint = Sentence()
        last.addWidget(self._start_hint, 1)
        last.addWidget(self.compare, 0, Qt.AlignmentFlag.AlignBottom)
        self.body.addLayout(sides)
        self.body.addWidget(self.pairs)
        self.body.addWidget(self.second_golden)
        self.body.addWidget(line())
        self.body.addLayout(others)
        self.body.addLayout(last)
        self.second_golden.hide()

    def show_captures(self, captures: Iterable[Capture]) -> None:
        listed = tuple(captures)
        for side in (self.target, self.golden, self.second_golden):
            side.show_captures(listed)
        self._update()

    def show_pair(self, target: Capture | None, golden: Capture | None) -> None:
        self.target.show_capture(target)
        self.golden.show_capture(golden)
        self._update()

    def take_dump(self, path: Path) -> None:
        """Take a dump that was dropped on the window as the side that is still empty, the target first."""
        side = self.golden if self.target.capture is not None else self.target
        side.show_path(path)

    def focus_first(self) -> None:
        """Focus what is to be done next."""
        side = self.golden if self.target.capture is not None else self.target
        next_step = self.compare if self.compare.isEnabled() else side.choice
        next_step.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def golden_again(self) -> Capture | None:
        """Return the second run of the golden side, None while it is not offered."""
        return None if self.second_golden.isHidden() else self.second_golden.capture

    def _swap(self) -> None:
        self.show_pair(self.golden.capture, self.target.capture)

    def _toggle_again(self) -> None:
        self.second_golden.setVisible(self.second_golden.isHidden())
        self._update()

    def _request_compare(self) -> None:
        if self.compare.isEnabled():
            self.compare_requested.emit()

    def _update(self) -> None:
        target, golden = self.target.capture, self.golden.capture
        self.pairs.show_sides(target, golden)
        self.sides_changed.emit(tuple(capture.path for capture in (target, golden) if capture is not None))
        is_same = target is not None and golden is not None and target.path == golden.path
        second_golden = self.golden_again
        is_used_twice = second_golden is not None and second_golden.path in (
            capture.path for capture in (target, golden) if capture is not None
        )
        self.compare.setEnabled(bool(self.pairs.matched) and not is_same and not is_used_twice)
        self.swap.setEnabled(target is not None or golden is not None)
        has_second_golden = not self.second_golden.isHidden()
        localize(
            self.toggle_again.setText, "precision.start.no_again" if has_second_golden else "precision.start.add_again"
        )
        if is_same:
            hint = "precision.start.same"
        elif is_used_twice:
            hint = "precision.rule.golden_again_twice"
        elif target is None or golden is None:
            hint = "precision.start.wants"
        else:
            hint = "precision.start.will" if self.pairs.matched else "precision.start.wants_pair"
        localize(self._start_hint.setText, hint)

    def retranslate(self) -> None:
        self._update()
