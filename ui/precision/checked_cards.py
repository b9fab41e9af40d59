"""What an environment check came to: the verdict, what to do about it, and the commands that make the sides equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from studio.texts import t
from ui.page_scroll import empty
from ui.precision.check_tables import MARKS, SIGNS, part_name
from ui.precision.copy_button import CopyButton
from ui.widgets import Card, Chip, Sentence, label, mono_font

if TYPE_CHECKING:
    from backends.precision.config.checked import Checked, Level
    from ui.widgets import Tone

TONES: dict[Level, Tone] = {"pass": "good", "warning": "warning", "error": "bad"}
VERDICTS: dict[Level, str] = {
    "pass": "precision.environment.verdict_pass", "warning": "precision.environment.verdict_warning",
    "error": "precision.environment.verdict_error",
}  # fmt: skip
COLUMNS = 5


class CheckedCard(Card):
    """`part_wanted`: the name of a part to look at."""

    part_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__("precision.environment.result")
        self.setObjectName("precision_checked")
        self._found: Checked | None = None
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

    def show_checked(self, found: Checked) -> None:
        self._found = found
        self.retranslate()

    def sentence(self) -> str:
        return t(VERDICTS[self._found.verdict]) if self._found is not None else ""

    def retranslate(self) -> None:
        found = self._found
        if found is None:
            return
        key, _ = MARKS[found.verdict]
        self.chip.show_state(t(key), TONES[found.verdict])
        self._show_parts(found)
        empty(self._todo)
        for said in (*found.todo, *found.notes):
            line = Sentence()
            line.setText(f"– {t(said.key, **said.args)}")
            self._todo.addWidget(line)
        self._heading.setVisible(bool(found.todo or found.notes))
        self._pip.show_lines(found.pip)

    def _show_parts(self, found: Checked) -> None:
        empty(self._parts)
        for number, part in enumerate(found.parts):
            chip = QPushButton(f"{SIGNS[part.verdict]} {part_name(part.name)}")
            chip.setObjectName(f"precision_part_{part.name}")
            chip.setProperty("role", "chip")
            chip.setProperty("tone", TONES[part.verdict])
            chip.clicked.connect(lambda _on=False, name=part.name: self.part_wanted.emit(name))
            self._parts.addWidget(chip, number // COLUMNS, number % COLUMNS)
        self._parts.setColumnStretch(COLUMNS, 1)


class _Pip(QWidget):
    """Hidden where the packages are equal."""

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
