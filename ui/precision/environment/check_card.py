"""The result of an environment check: the verdict, what to do about it, and the commands that make both sides equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from studio.texts import t
from ui.precision.copy_button import CopyButton
from ui.precision.environment.check_tables import MARKS, SIGNS, part_name
from ui.widgets.basic import (
    Card,
    Chip,
    Sentence,
    label,
    mono_font,
)
from ui.widgets.page_scroll import empty

if TYPE_CHECKING:
    from backends.precision.config.result import EnvironmentCheck, Level, Outcome
    from ui.widgets.basic import Tone

TONES: dict[Level, Tone] = {"pass": "good", "warning": "warning", "error": "bad"}
VERDICTS: dict[Outcome, str] = {
    "pass": "precision.environment.verdict_pass", "review": "precision.environment.verdict_review",
    "error": "precision.environment.verdict_error", "incomplete": "precision.environment.verdict_incomplete",
}  # fmt: skip
CHIPS: dict[Outcome, tuple[str, Tone]] = {
    "pass": (MARKS["pass"][0], "good"), "review": (MARKS["warning"][0], "warning"), "error": (MARKS["error"][0], "bad"),
    "incomplete": ("precision.environment.incomplete", "warning"),
}  # fmt: skip
COLUMNS = 5


class CheckCard(Card):
    """`part_requested` carries the name of the part whose table is to be shown."""

    part_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__("precision.environment.result")
        self.setObjectName("precision_checked")
        self._check: EnvironmentCheck | None = None
        self.chip = Chip()
        self.header.insertWidget(1, self.chip)
        self._parts = QGridLayout()
        self._parts.setSpacing(8)
        self._todo = QVBoxLayout()
        self._todo.setSpacing(6)
        self._heading = label("precision.environment.todo", "strong")
        self._pip = _Pip()
        self.body.addLayout(self._parts)
        self.body.addWidget(self._heading)
        self.body.addLayout(self._todo)
        self.body.addWidget(self._pip)

    def show_check(self, check: EnvironmentCheck) -> None:
        self._check = check
        self.retranslate()

    def sentence(self) -> str:
        check = self._check
        if check is None:
            return ""
        return t(VERDICTS[check.outcome])

    def retranslate(self) -> None:
        check = self._check
        if check is None:
            return
        key, tone = CHIPS[check.outcome]
        self.chip.show_state(t(key), tone)
        self._show_parts(check)
        empty(self._todo)
        for advice in (*check.uncovered, *check.todo, *check.notes):
            line = Sentence()
            line.setText(f"– {t(advice.key, **advice.args)}")
            self._todo.addWidget(line)
        self._heading.setVisible(bool(check.uncovered or check.todo or check.notes))
        self._pip.show_lines(check.pip)

    def _show_parts(self, check: EnvironmentCheck) -> None:
        empty(self._parts)
        for number, part in enumerate(check.parts):
            chip = QPushButton(f"{SIGNS[part.verdict]} {part_name(part.name)}")
            chip.setObjectName(f"precision_part_{part.name}")
            chip.setProperty("role", "chip")
            chip.setProperty("tone", TONES[part.verdict])
            chip.clicked.connect(lambda _on=False, name=part.name: self.part_requested.emit(name))
            self._parts.addWidget(chip, number // COLUMNS, number % COLUMNS)
        self._parts.setColumnStretch(COLUMNS, 1)


class _Pip(QWidget):
    """The pip commands that make both sides equal; hidden where the packages are equal already."""

    def __init__(self) -> None:
        super().__init__()
        self.copy = CopyButton("precision_copy_pip")
        self._lines = Sentence()
        self._lines.setFont(mono_font(12))
        self._lines.setProperty("role", "said")
        head = QHBoxLayout()
        head.addWidget(label("precision.environment.pip", "strong"))
        head.addStretch(1)
        head.addWidget(self.copy)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self._lines)
        self._lines.setAlignment(Qt.AlignmentFlag.AlignLeft)

    def show_lines(self, lines: tuple[str, ...]) -> None:
        self._lines.setText("\n".join(lines))
        self.copy.show_text("\n".join(lines))
        self.setVisible(bool(lines))
