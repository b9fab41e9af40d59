"""The interpreters of this host and what each has: choose the one that `python` in the command line means."""

from __future__ import annotations

import os
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QButtonGroup, QLabel, QRadioButton, QSizePolicy, QVBoxLayout, QWidget

from backends.launch.own.python_choice import choose_python
from studio import interpreters
from studio.security import trust
from studio.texts import t
from ui.services.background import run_in_background
from ui.widgets.basic import (
    Card,
    Sentence,
    retone,
    text_button,
)
from ui.widgets.labels import button_text
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from backends.launch.own.python_choice import PythonChoice
    from backends.launch.own.spec import OwnSpec
    from studio.interpreters import Answer, Interpreter
    from studio.project import Project

MAX_INTERPRETERS = 6
MAX_NAMED = 5
INDENT = 26
NAME = 300
FRAMEWORKS = {"torch": "torch", "torch-npu": "torch_npu", "mindspore": "mindspore"}
PROBLEMS = {
    "refused": "own_script.interpreter.refused", "crashed": "own_script.interpreter.crashed",
    "hung": "own_script.interpreter.hung", "garbage": "own_script.interpreter.garbage",
}  # fmt: skip


class InterpretersCard(Card):
    """From their files; `try_them` has each import what its files name, except those of a project that is not
    trusted. `chosen`: an interpreter, or Path() for the one of the command line. `judged`: a PythonChoice, of which of
    them have what the script imports."""

    chosen = Signal(Path)
    judged = Signal(object)

    def __init__(self) -> None:
        super().__init__("own_script.interpreters")
        self.setObjectName("own_script_interpreters")
        self.try_button = text_button("own_script.try_them", "own_script.try_them")
        localize(self.try_button.setToolTip, "own_script.try_them_hint")
        self.try_button.clicked.connect(self.try_them)
        self.header.addWidget(self.try_button)
        self.body.setSpacing(8)
        self._project: Project | None = None
        self._project_searched: tuple[Path | None] | None = None
        self._waiting: list[Path] = []
        self._spec: OwnSpec | None = None
        self.choice: PythonChoice | None = None
        self._closed = threading.Event()
        if (app := QCoreApplication.instance()) is not None:
            app.aboutToQuit.connect(self._give_up)
        self.answers: dict[Path, Answer] = {}
        self.rows: list[InterpreterRow] = []
        self._group = QButtonGroup(self)
        self._group.buttonClicked.connect(self._clicked)
        self.line_row = InterpreterRow(None)
        self._add(self.line_row)
        self.line_row.button.setChecked(True)

    def _add(self, row: InterpreterRow) -> None:
        self._group.addButton(row.button)
        self.body.addWidget(row)

    def show_project(self, project: Project | None) -> None:
        """Looks for interpreters where the project is another one."""
        self._project = project
        folder = project.folder if project else None
        if self._project_searched != (folder,):
            self._project_searched = (folder,)
            self._waiting = []
            run_in_background(self, partial(_find_interpreters, folder), partial(self._show_interpreters, folder))
        self._enable()

    def _show_interpreters(self, folder: Path | None, pythons: list[Interpreter]) -> None:
        if self._project_searched != (folder,):
            return
        for row in self.rows:
            self._group.removeButton(row.button)
            self.body.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.rows = [InterpreterRow(interpreter, folder) for interpreter in pythons]
        for row in self.rows:
            self._add(row)
            row.show_answer(self.answers.get(row.path))
        self._enable()
        if self._spec is not None:
            self.judge(self._spec)

    def judge(self, spec: OwnSpec) -> None:
        """Find out which interpreters have what the script of a spec imports: those come first."""
        self._spec = spec
        folder = str(self._project.folder) if self._project else ""
        paths = [row.path for row in self.rows]
        run_in_background(self, partial(choose_python, spec, folder, paths), partial(self._show_choice, spec))

    def _show_choice(self, spec: OwnSpec, choice: PythonChoice) -> None:
        if spec != self._spec or not set(choice.missing) >= {row.path for row in self.rows}:
            return
        self.choice = choice
        self.rows.sort(key=lambda row: bool(choice.missing[row.path]))
        for row in (self.line_row, *self.rows):
            row.show_missing(choice.missing[row.path])
            self.body.removeWidget(row)
            self.body.addWidget(row)
        self.judged.emit(choice)

    def show_chosen(self, python: Path) -> None:
        """Another one than these is in the field only."""
        row = next((row for row in (self.line_row, *self.rows) if row.path == python), None)
        self._group.setExclusive(False)
        for other in (self.line_row, *self.rows):
            other.button.setChecked(other is row)
        self._group.setExclusive(True)

    def _clicked(self, button: QRadioButton) -> None:
        self.chosen.emit(next(row.path for row in (self.line_row, *self.rows) if row.button is button))

    def try_them(self) -> None:
        """One after the other: each imports whole frameworks."""
        self._waiting = [row.path for row in self.rows if self._may_try(row)]
        self._enable()
        self._try_next()

    def _may_try(self, row: InterpreterRow) -> bool:
        """An interpreter is code, and so is what its folder has Python import at its start."""
        folder = self._project.folder if self._project else None
        inside = folder is not None and _is_inside(row.path, folder)
        return row.has_framework() and not (inside and folder and not trust.is_trusted(folder))

    def _try_next(self) -> None:
        if self._waiting:
            path = self._waiting[0]
            for row in self.rows:
                if row.path == path:
                    row.show_trying()
            run_in_background(self, partial(interpreters.probe, path, is_cancelled=self._closed.is_set), self._answered)

    def _give_up(self) -> None:
        """Nobody waits for the answers of a window that is closed: what was started for them ends with it."""
        self._closed.set()

    def _answered(self, answer: Answer) -> None:
        self.answers[answer.path] = answer
        self._waiting = [path for path in self._waiting if path != answer.path]
        for row in self.rows:
            if row.path == answer.path:
                row.show_answer(answer)
        self._enable()
        self._try_next()

    def _enable(self) -> None:
        self.try_button.setVisible(any(self._may_try(row) for row in self.rows))
        self.try_button.setDisabled(bool(self._waiting))


class InterpreterRow(QWidget):
    """`interpreter`: None stands for the interpreter of the command line."""

    def __init__(self, interpreter: Interpreter | None, project: Path | None = None) -> None:
        super().__init__()
        self.path = interpreter.path if interpreter else Path()
        self._interpreter = interpreter
        self._answer: Answer | None = None
        self._trying = False
        self._missing: tuple[str, ...] = ()
        self.button = QRadioButton()
        self.hint = _wrapped()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.button)
        column.addWidget(self.hint)
        if interpreter is None:
            localize(self.button.setText, "own_script.implied_python")
        else:
            self.button.setText(button_text(self, _short(interpreter.path, project), NAME))
            self.button.setToolTip(str(interpreter.path))
        self.retranslate()

    def has_framework(self) -> bool:
        return self._interpreter is not None and any(name in self._interpreter.packages for name in FRAMEWORKS)

    def show_trying(self) -> None:
        self._trying = True
        self.retranslate()

    def show_answer(self, answer: Answer | None) -> None:
        self._answer, self._trying = answer, False
        self.retranslate()

    def show_missing(self, packages: tuple[str, ...]) -> None:
        """Show what the script imports and this interpreter does not have."""
        self._missing = packages
        self.retranslate()

    def retranslate(self) -> None:
        trouble = ""
        if self._interpreter is None:
            sentence = t("own_script.as_line_says")
        elif self._answer is None:
            sentence = t("own_script.interpreter.trying") if self._trying else from_files(self._interpreter)
        else:
            sentence, trouble = from_answer(self._answer, self._interpreter), troubles(self._answer)
        lack = t("own_script.interpreter.lacks", packages=", ".join(self._missing[:MAX_NAMED])) if self._missing else ""
        retone(self.hint, "role", "warning" if trouble or lack else "hint")
        self.hint.setText("\n".join(filter(None, (trouble or sentence, lack))))


def from_files(interpreter: Interpreter) -> str:
    versions = {name: interpreter.packages[name] for name in FRAMEWORKS if name in interpreter.packages}
    return _joined(interpreter.version, versions)


def from_answer(answer: Answer, interpreter: Interpreter) -> str:
    sentence = _joined(answer.python or interpreter.version, answer.versions)
    if answer.devices is None:
        return sentence
    devices = t("own_script.interpreter.devices", count=answer.devices)
    return t("form.between").join((sentence, devices if answer.devices else t("own_script.interpreter.no_device")))


def troubles(answer: Answer) -> str:
    """What does not start, or what does not import, with the first line of why."""
    if answer.problem:
        return t(PROBLEMS[answer.problem], number=answer.number)
    reasons = [
        t("own_script.interpreter.fails", name=name, reason=reason.splitlines()[0][:160])
        for name, reason in answer.reasons.items()
    ]
    return "\n".join(reasons)


def _joined(python: str, versions: dict[str, str]) -> str:
    parts = [f"Python {python}".strip(), *(f"{name} {version}" for name, version in versions.items())]
    return t("form.between").join(parts if versions else [*parts, t("own_script.interpreter.nothing")])


def _find_interpreters(project: Path | None) -> list[Interpreter]:
    """The ones with a framework first; the project's own stay before others like them."""
    pythons = [interpreters.read(path) for path in interpreters.discover(project)]
    return sorted(pythons, key=lambda python: not any(name in python.packages for name in FRAMEWORKS))[
        :MAX_INTERPRETERS
    ]


def _is_inside(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder) or Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _short(path: Path, project: Path | None) -> str:
    if project is not None and path.is_relative_to(project):
        return str(path.relative_to(project))
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _wrapped() -> QLabel:
    sentence = Sentence()
    retone(sentence, "role", "hint")
    sentence.setContentsMargins(INDENT, 0, 0, 0)
    sentence.setSizePolicy(QSizePolicy.Policy.Ignored, sentence.sizePolicy().verticalPolicy())
    return sentence
