"""Some fields of a spec in rows, without the sections of a whole form."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from studio import schema
from studio.texts import t
from ui.form.field_box import FieldBox
from ui.form.inputs import ChoiceInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from studio.schema import Problem

SPACING = 16


class SpecBoxes(QWidget):
    """`rows` holds names of fields, which share the width of their row; `implied` is what an empty field stands for."""

    edited = Signal()

    def __init__(
        self, spec: Any, feature: str, rows: Sequence[Sequence[str]], implied: Mapping[str, str] | None = None
    ) -> None:
        super().__init__()
        self.spec = spec
        self._implied = implied or {}
        self._unreadable: dict[str, Problem] = {}
        self._touched: set[str] = set()
        self.boxes = {name: FieldBox(schema.field_of(type(spec), name), feature) for row in rows for name in row}
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(SPACING)
        grid.setVerticalSpacing(10)
        columns = math.lcm(*map(len, rows))
        for at, row in enumerate(rows):
            width = columns // len(row)
            for position, name in enumerate(row):
                grid.addWidget(self.boxes[name], at, position * width, 1, width, Qt.AlignmentFlag(0))
        for column in range(columns):
            grid.setColumnStretch(column, 1)
        for name, box in self.boxes.items():
            box.input.edited.connect(partial(self._edited, name))
        self.show_spec(spec)

    def show_spec(self, spec: Any) -> None:
        self.spec = spec
        self._unreadable.clear()
        for name in self.boxes:
            self._show_box(name)
        self.retranslate()

    def _show_box(self, name: str) -> None:
        box, value = self.boxes[name], schema.value_of(self.spec, name)
        if isinstance(box.input, ChoiceInput):
            box.input.offer(schema.choices_of(self.spec, box.field), value)
        box.input.show_value(value)

    def set_value(self, name: str, value: Any) -> None:
        """Set a field from outside, for example to a file that was chosen."""
        self.show_spec(schema.with_value(self.spec, name, value))
        self.edited.emit()

    def problems(self) -> tuple[Problem, ...]:
        """Return everything that is wrong with the spec, also with fields that have no box."""
        others = [problem for problem in schema.problems(self.spec) if problem.field not in self._unreadable]
        return (*self._unreadable.values(), *others)

    @property
    def unreadable(self) -> tuple[Problem, ...]:
        """Return the problems of boxes whose text is no value of their field."""
        return tuple(self._unreadable.values())

    def _edited(self, name: str) -> None:
        self._touched.add(name)
        self._unreadable.pop(name, None)
        try:
            spec = schema.with_value(self.spec, name, self.boxes[name].input.value())
            self.spec = schema.with_offered_choices(spec)
        except schema.Unreadable as error:
            self._unreadable[name] = error.problem
        for other, box in self.boxes.items():
            if box.field.choices_when is not None:
                self._show_box(other)
        self.retranslate()
        self.edited.emit()

    def retranslate(self) -> None:
        """Show the fields that apply; a field is marked as wrong only once the user has edited it."""
        wrong = {problem.field: problem for problem in reversed(self.problems())}
        for name, box in self.boxes.items():
            value = schema.value_of(self.spec, name)
            box.setVisible(schema.is_visible(self.spec, box.field))
            is_empty = value == box.field.default and name not in self._touched
            box.show_problem(None if is_empty else wrong.get(name))
            box.show_choice(value)
            implied = self._implied.get(name)
            box.input.show_implied(t(implied) if implied else t("form.implied") if box.field.optional else "")
