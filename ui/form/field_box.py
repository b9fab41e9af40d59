"""A field of a form: its name, its input, and below a hint or what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from studio import schema
from studio.texts import has
from ui.form.inputs import input_of
from ui.widgets.basic import Sentence, label, show_icon
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from studio.schema import Field, Problem
    from ui.form.inputs import Input

    MakeInput = Callable[[Field, str], Input]

S = TypeVar("S", bound=Any)


class FieldBox(QWidget):
    def __init__(self, field: Field, feature: str, make_input: MakeInput = input_of) -> None:
        super().__init__()
        self.field = field
        self.setObjectName(f"{feature}.{field.name}.box")
        self.input = make_input(field, feature)
        self.input.setObjectName(f"{feature}.{field.name}")
        # Its column is as wide as the others, whatever it holds.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setMinimumWidth(110)
        name = label(f"{feature}.field.{field.name}")
        name.setBuddy(self.input.focus)
        localize(self.input.focus.setAccessibleName, f"{feature}.field.{field.name}")
        localize(self.input.focus.setAccessibleDescription, f"{feature}.hint.{field.name}")
        self._hint = _wrapped(QLabel(), "hint")
        self._choice_hint = f"{feature}.choice.{field.name}_hint"
        localize(self._hint.setText, f"{feature}.hint.{field.name}")
        self._wrong: _Wrong | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(5)
        for widget in (name, self.input, self._hint):
            self._column.addWidget(widget)
        self._column.addStretch(1)

    def show_hint(self, key: str) -> None:
        """Another hint, where a field of the same name means something else."""
        localize(self._hint.setText, key)
        localize(self.input.focus.setAccessibleDescription, key)

    def add_below(self, widget: QWidget) -> None:
        """What belongs to the field, below its hint: shown and hidden with it."""
        self._column.insertWidget(self._column.count() - 1, widget)

    def show_choice(self, value: object) -> None:
        """A choice may have a hint of its own."""
        word = ("off", "on")[value] if isinstance(value, bool) else value
        if has(f"{self._choice_hint}.{word}"):
            localize(self._hint.setText, f"{self._choice_hint}.{word}")

    def show_problem(self, problem: Problem | None) -> None:
        self.input.show_wrong(problem is not None)
        self._hint.setVisible(problem is None)
        if problem and self._wrong is None:
            self._wrong = _Wrong()
            self._column.insertWidget(self._column.indexOf(self._hint) + 1, self._wrong)
        if self._wrong:
            self._wrong.setVisible(problem is not None)
        if problem and self._wrong:
            self._wrong.show_problem(problem)


def _wrapped(text: QLabel, role: str) -> QLabel:
    text.setTextFormat(Qt.TextFormat.PlainText)
    text.setProperty("role", role)
    text.setWordWrap(True)
    policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    policy.setHeightForWidth(True)
    text.setSizePolicy(policy)
    return text


class _Wrong(QWidget):
    """A sign and a sentence: never colour alone."""

    def __init__(self) -> None:
        super().__init__()
        sign = QLabel()
        sign.setFixedSize(16, 16)
        show_icon(sign, "warning", "bad", 14)
        self._text = _wrapped(Sentence(), "bad")
        self._text.setStyleSheet("font-size: 12px")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(5)
        row.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._text, 1)

    def show_problem(self, problem: Problem) -> None:
        localize(self._text.setText, problem.rule, **problem.args)


def spec_in(boxes: Mapping[str, FieldBox], spec: S) -> tuple[S, bool]:
    """The spec with what stands in the boxes, by the names of their fields, and whether all of it is right. Each box
    shows what is wrong with its own."""
    wrong = {}
    for name, box in boxes.items():
        try:
            spec = schema.with_value(spec, name, box.input.value())
        except schema.Unreadable as error:
            wrong[name] = error.problem
    problems = wrong | {problem.field: problem for problem in schema.problems(spec) if problem.field in boxes}
    for name, box in boxes.items():
        box.show_problem(problems.get(name))
    return spec, not problems
