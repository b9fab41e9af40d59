"""What is to be compared: both sides, how their steps and ranks go together, and what is done besides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout

from ui.precision.pairs_choice import PairsChoice
from ui.precision.side_input import SideInput
from ui.say import say
from ui.widgets import Card, Sentence, line, primary_button, text_button

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ui.precision.captures import Capture

GUTTER = 28


class PickCard(Card):
    """`compare_wanted`: both sides are there, and at least one pair. `sides_changed`: the folders that are picked."""

    compare_wanted = Signal()
    sides_changed = Signal(tuple)

    def __init__(self) -> None:
        super().__init__("precision.start.pick")
        self.setObjectName("precision_pick")
        self.target = SideInput("target", "precision.start.target", "precision.start.target_hint")
        self.golden = SideInput("golden", "precision.start.golden", "precision.start.golden_hint")
        self.again = SideInput("again", "precision.start.again", "precision.start.again_hint")
        self.pairs = PairsChoice()
        self.msprobe = QCheckBox()
        self.msprobe.setObjectName("precision_msprobe")
        say(self.msprobe, "setText", "precision.start.msprobe")
        say(self.msprobe, "setToolTip", "precision.start.msprobe_hint")
        self._make_buttons()
        self._build()
        for side in (self.target, self.golden, self.again):
            side.chosen.connect(self._show)
        self._show()

    def _make_buttons(self) -> None:
        self.swap = text_button("precision.start.swap", "precision_swap")
        self.swap.clicked.connect(self._swap)
        self.more = text_button("precision.start.add_again", "precision_add_again")
        self.more.clicked.connect(self._turn_again)
        self.compare = primary_button("precision.start.compare", "precision_compare")
        self.compare.clicked.connect(self._ask)
        self.header.addWidget(self.swap)

    def _build(self) -> None:
        sides = QHBoxLayout()
        sides.setSpacing(GUTTER)
        sides.addWidget(self.target, 1)
        sides.addWidget(self.golden, 1)
        others = QHBoxLayout()
        others.setSpacing(GUTTER)
        others.addWidget(self.msprobe)
        others.addWidget(self.more)
        others.addStretch(1)
        last = QHBoxLayout()
        self._wants = Sentence()
        last.addWidget(self._wants, 1)
        last.addWidget(self.compare, 0, Qt.AlignmentFlag.AlignBottom)
        self.body.addLayout(sides)
        self.body.addWidget(self.pairs)
        self.body.addWidget(self.again)
        self.body.addWidget(line())
        self.body.addLayout(others)
        self.body.addLayout(last)
        self.again.hide()

    def show_captures(self, captures: Iterable[Capture]) -> None:
        known = tuple(captures)
        for side in (self.target, self.golden, self.again):
            side.show_captures(known)
        self._show()

    def show_pair(self, target: Capture | None, golden: Capture | None) -> None:
        self.target.show_capture(target)
        self.golden.show_capture(golden)
        self._show()

    def take(self, path: Path) -> None:
        """A dump that was dropped on the window: the side that is still empty, the target first."""
        side = self.golden if self.target.capture is not None else self.target
        side.show_path(path)

    def focus_first(self) -> None:
        """What is to be done next."""
        side = self.golden if self.target.capture is not None else self.target
        wanted = self.compare if self.compare.isEnabled() else side.choice
        wanted.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def golden_again(self) -> Capture | None:
        """A second run of the golden side; none while it is not asked for."""
        return None if self.again.isHidden() else self.again.capture

    def _swap(self) -> None:
        self.show_pair(self.golden.capture, self.target.capture)

    def _turn_again(self) -> None:
        self.again.setVisible(self.again.isHidden())
        self._show()

    def _ask(self) -> None:
        if self.compare.isEnabled():
            self.compare_wanted.emit()

    def _show(self) -> None:
        target, golden = self.target.capture, self.golden.capture
        self.pairs.show_sides(target, golden)
        self.sides_changed.emit(tuple(one.path for one in (target, golden) if one is not None))
        is_same = target is not None and golden is not None and target.path == golden.path
        self.compare.setEnabled(bool(self.pairs.compared) and not is_same)
        self.swap.setEnabled(target is not None or golden is not None)
        shown = not self.again.isHidden()
        say(self.more, "setText", "precision.start.no_again" if shown else "precision.start.add_again")
        if is_same:
            wants = "precision.start.same"
        elif target is None or golden is None:
            wants = "precision.start.wants"
        else:
            wants = "precision.start.will" if self.pairs.compared else "precision.start.wants_pair"
        say(self._wants, "setText", wants)

    def retranslate(self) -> None:
        self._show()
