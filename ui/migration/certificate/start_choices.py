"""What the form of a certificate proposes: the project's own commands, and the interpreters of this host."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget

from backends.migration.certify.proposed_lines import proposed_lines
from studio import interpreters
from ui.services.background import run_in_background
from ui.widgets.basic import text_button
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
        self.lines = _Choices("migration.proof.commands")
        self.pythons = _Choices("migration.proof.pythons")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(16)
        row.addWidget(self.lines.button)
        row.addWidget(self.pythons.button)
        row.addStretch(1)

    def show_project(self, project: Path) -> None:
        """Look for commands and interpreters, off the UI thread, where the project is another one."""
        if project != self._project:
            self._project = project
            run_in_background(self, partial(_find, project), partial(self._show, project))

    def _show(self, project: Path, found: tuple[tuple[ProposedLine, ...], list[Interpreter]]) -> None:
        if project != self._project:
            return
        lines, pythons = found
        self.lines.offer(
            [(f"{shlex.join(one.line)}  ({one.source})", partial(self.line_chosen.emit, one.line)) for one in lines]
        )
        self.pythons.offer([(_title(one), partial(self.python_chosen.emit, one.path)) for one in pythons])
        if lines:
            self.proposed.emit(lines[0].line)


def _title(interpreter: Interpreter) -> str:
    packages = interpreter.packages
    versions = ", ".join(f"{name} {packages[name]}" for name in FRAMEWORKS if name in packages)
    return f"{_short(interpreter.path)}  ({versions})"


def _find(project: Path) -> tuple[tuple[ProposedLine, ...], list[Interpreter]]:
    """Return the commands of a project, and the interpreters that have a framework."""
    pythons = [interpreters.read(path) for path in interpreters.discover(project)]
    usable = [interpreter for interpreter in pythons if any(name in interpreter.packages for name in FRAMEWORKS)]
    return proposed_lines(project), usable[:MAX_INTERPRETERS]


def _short(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


class _Choices:
    """A button that opens a menu of what can be chosen; it waits until there is anything."""

    def __init__(self, title: str) -> None:
        self.offered: list[tuple[str, Callable[[], object]]] = []
        self.button = text_button(title, title)
        self.button.setEnabled(False)
        self.button.clicked.connect(self.open_menu)

    def offer(self, offered: list[tuple[str, Callable[[], object]]]) -> None:
        self.offered = offered
        self.button.setEnabled(bool(offered))

    def open_menu(self) -> None:
        menu = QMenu(self.button)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for text, choose in self.offered:
            menu.addAction(button_text(menu, text, WIDTH), choose)
        menu.popup(self.button.mapToGlobal(self.button.rect().bottomLeft()))
