"""What the form of a certificate proposes: the project's own commands, and the interpreters of this host."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from backends.migration.certify.proposed_lines import proposed_lines
from studio import interpreters
from ui.services.background import run_in_background
from ui.widgets.basic import label
from ui.widgets.labels import button_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from backends.migration.certify.proposed_lines import ProposedLine
    from studio.interpreters import Interpreter

MAX_INTERPRETERS = 6
WIDTH = 460
FRAMEWORKS = ("torch", "mindspore")


class StartChoices(QWidget):
    """`line_chosen`: the words of a command; `python_chosen`: the path of an interpreter; `proposed`: the first
    command that the project gives, once it is known."""

    line_chosen = Signal(object)
    python_chosen = Signal(Path)
    proposed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("migration_proof_choices")
        self._project: Path | None = None
        self.lines, self.pythons = _Choices("migration.proof.commands"), _Choices("migration.proof.pythons")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(16)
        row.addWidget(self.lines, 1)
        row.addWidget(self.pythons, 1)
        self.hide()

    def show_project(self, project: Path) -> None:
        """Look for commands and interpreters, off the UI thread, where the project is another one."""
        if project != self._project:
            self._project = project
            run_in_background(self, partial(_find, project), partial(self._show, project))

    def _show(self, project: Path, found: tuple[tuple[ProposedLine, ...], list[Interpreter]]) -> None:
        if project != self._project:
            return
        lines, pythons = found
        self.lines.clear()
        for proposal in lines:
            text = f"{shlex.join(proposal.line)}  ({proposal.source})"
            self.lines.add(text, partial(self.line_chosen.emit, proposal.line))
        self.pythons.clear()
        for interpreter in pythons:
            versions = ", ".join(
                f"{name} {interpreter.packages[name]}" for name in FRAMEWORKS if name in interpreter.packages
            )
            text = f"{_short(interpreter.path)}  ({versions})"
            self.pythons.add(text, partial(self.python_chosen.emit, interpreter.path))
        self.setVisible(bool(lines or pythons))
        if lines:
            self.proposed.emit(lines[0].line)


def _find(project: Path) -> tuple[tuple[ProposedLine, ...], list[Interpreter]]:
    """Return the commands of a project, and the interpreters that have a framework."""
    pythons = [interpreters.read(path) for path in interpreters.discover(project)]
    usable = [interpreter for interpreter in pythons if any(name in interpreter.packages for name in FRAMEWORKS)]
    return proposed_lines(project), usable[:MAX_INTERPRETERS]


def _short(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


class _Choices(QWidget):
    """A title, and a button for each choice."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(2)
        self._column.addWidget(label(title, "hint"))
        self._name = title
        self._buttons: list[QWidget] = []
        self._column.addStretch(1)
        self.hide()

    def clear(self) -> None:
        for button in self._buttons:
            self._column.removeWidget(button)
            button.hide()
            button.deleteLater()
        self._buttons = []
        self.hide()

    def add(self, text: str, choose: Callable[[], object]) -> None:
        button = QPushButton()
        button.setObjectName(f"{self._name}.{len(self._buttons)}")
        button.setProperty("role", "text")
        button.setText(button_text(button, text, WIDTH))
        button.setToolTip(text)
        button.clicked.connect(choose)
        self._buttons.append(button)
        self._column.insertWidget(self._column.count() - 1, button)
        self.show()
