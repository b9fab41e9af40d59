"""A form made from the fields of a spec: a card for each card, an input for each field, checked while typing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from studio import schema
from studio.texts import has, t
from ui.inputs import input_of
from ui.say import say
from ui.widgets import GAP, Card, label, show_icon, text_button

if TYPE_CHECKING:
    from collections.abc import Callable

    from studio.schema import Field, Problem

COLUMNS = 3
HEADER = 27
_SPAN = {"path": 2, "pairs": COLUMNS}


class FieldBox(QWidget):
    """A field: its name, its input, and below a hint or what is wrong."""

    def __init__(self, field: Field, feature: str) -> None:
        super().__init__()
        self.field = field
        self.setObjectName(f"{feature}.{field.name}.box")
        self.input = input_of(field, feature)
        self.input.setObjectName(f"{feature}.{field.name}")
        # Its column is as wide as the others, whatever is in it.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setMinimumWidth(110)
        name = label(f"{feature}.field.{field.name}")
        name.setBuddy(self.input.focus)
        say(self.input.focus, "setAccessibleName", f"{feature}.field.{field.name}")
        say(self.input.focus, "setAccessibleDescription", f"{feature}.hint.{field.name}")
        self._hint = _wrapped("hint")
        self._choice_hint = f"{feature}.choice.{field.name}_hint"
        say(self._hint, "setText", f"{feature}.hint.{field.name}")
        self._wrong = _Wrong()
        self._wrong.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(5)
        for widget in (name, self.input, self._hint, self._wrong):
            column.addWidget(widget)
        column.addStretch(1)

    @property
    def span(self) -> int:
        return _SPAN.get(self.field.kind, 1)

    def show_choice(self, value: object) -> None:
        """A choice may have a hint of its own."""
        if has(f"{self._choice_hint}.{value}"):
            say(self._hint, "setText", f"{self._choice_hint}.{value}")

    def show_problem(self, problem: Problem | None) -> None:
        self.input.show_wrong(problem is not None)
        self._hint.setVisible(problem is None)
        self._wrong.setVisible(problem is not None)
        if problem:
            self._wrong.show_problem(problem)


def _wrapped(role: str) -> QLabel:
    made = label(role=role)
    made.setWordWrap(True)
    policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    policy.setHeightForWidth(True)
    made.setSizePolicy(policy)
    return made


class _Wrong(QWidget):
    """A sign and a sentence: never colour alone."""

    def __init__(self) -> None:
        super().__init__()
        sign = QLabel()
        sign.setFixedSize(16, 16)
        show_icon(sign, "warning", "bad", 14)
        self._text = _wrapped("bad")
        self._text.setStyleSheet("font-size: 12px")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(5)
        row.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._text, 1)

    def show_problem(self, problem: Problem) -> None:
        say(self._text, "setText", problem.rule, **problem.args)


class FormCard(Card):
    """A card of the spec: its shown fields in three columns of the same width, aligned at the top."""

    def __init__(self, feature: str, name: str, folded: bool) -> None:
        super().__init__(f"{feature}.card.{name}")
        self.boxes: list[FieldBox] = []
        self._placed: list[FieldBox] = []
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(GAP)
        self.header.addStrut(HEADER)
        self.body.setSpacing(0)
        for column in range(COLUMNS):
            self._grid.setColumnStretch(column, 1)
            # Empty or spanned columns would have no spacing, and the columns of two cards would differ. The row of
            # these also keeps the fields away from the title.
            self._grid.addWidget(QWidget(), 0, column)
        self._inside = QWidget()
        self._inside.setLayout(self._grid)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self.body.addWidget(self._inside)
        if has(f"{feature}.card.{name}_hint"):
            self.header.addWidget(label(f"{feature}.card.{name}_hint", "hint"))
        if folded:
            self._toggle = text_button("form.show", f"{feature}.{name}.fold")
            self._toggle.clicked.connect(lambda: self.fold(not self._inside.isHidden()))
            self.header.addWidget(self._toggle)
            self.fold(True)

    def add(self, box: FieldBox) -> None:
        box.setParent(self._inside)
        box.hide()
        self.boxes.append(box)

    def fold(self, folded: bool) -> None:
        if hasattr(self, "_toggle"):
            self._inside.setHidden(folded)
            say(self._toggle, "setText", "form.show" if folded else "form.hide")

    def place(self, shown: set[str]) -> None:
        """Puts the fields that apply into the grid, again only where that changed."""
        wanted = [box for box in self.boxes if box.field.name in shown]
        if wanted == self._placed:
            return
        for box in self._placed:
            self._grid.removeWidget(box)
        for box in self.boxes:
            box.setVisible(box in wanted)
        place = 0
        for box in wanted:
            if place % COLUMNS + box.span > COLUMNS:
                place += COLUMNS - place % COLUMNS
            self._grid.addWidget(box, place // COLUMNS + 1, place % COLUMNS, 1, box.span)
            place += box.span
        self._placed = wanted


class Form(QWidget):
    """`implied` gives, for fields that may stay empty, the text of what then follows from other choices."""

    spec_changed = Signal(object)

    def __init__(
        self,
        spec_type: type[Any],
        feature: str,
        implied: Callable[[Any], dict[str, str]] | None = None,
        folded: tuple[str, ...] = ("advanced",),
    ) -> None:
        super().__init__()
        self._type = spec_type
        self._spec: Any = spec_type()
        self._implied = implied
        self._unread: dict[str, Problem] = {}
        self._cards: dict[str, FormCard] = {}
        self._boxes: dict[str, FieldBox] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        for field in schema.fields(spec_type):
            self._add(field, feature, folded)
        for card in self._cards.values():
            column.addWidget(card)
        column.addStretch(1)
        self.set_spec(self._spec)

    def _add(self, field: Field, feature: str, folded: tuple[str, ...]) -> None:
        if field.card not in self._cards:
            self._cards[field.card] = FormCard(feature, field.card, field.card in folded)
        box = FieldBox(field, feature)
        box.input.edited.connect(lambda: self._edited(field.name))
        self._cards[field.card].add(box)
        self._boxes[field.name] = box

    def spec(self) -> Any:
        """What is chosen; a field that cannot be read counts with its default, and is among the problems."""
        return self._spec

    def set_spec(self, spec: Any) -> None:
        """Shows a spec; `spec_changed` tells it too."""
        self._spec = spec
        self._unread.clear()
        for name, box in self._boxes.items():
            box.input.show_value(schema.value_of(spec, name))
        self._check()
        self.spec_changed.emit(spec)

    def problems(self) -> tuple[Problem, ...]:
        """Everything wrong now, in the order of the fields."""
        hidden = {field.name for field in schema.fields(self._type) if not schema.is_shown(self._spec, field)}
        unread = [problem for name, problem in self._unread.items() if name not in hidden]
        found = unread + [one for one in schema.problems(self._spec) if one.field not in self._unread]
        order = list(self._boxes)
        return tuple(sorted(found, key=lambda problem: order.index(problem.field)))

    def focus_field(self, name: str) -> QWidget:
        """Unfolds what hides a field, gives it the focus and returns its box."""
        box = self._boxes[name]
        self._cards[box.field.card].fold(False)
        box.input.focus.setFocus(Qt.FocusReason.OtherFocusReason)
        return box

    def retranslate(self) -> None:
        self._show_implied()

    def _edited(self, name: str) -> None:
        box = self._boxes[name]
        self._unread.pop(name, None)
        try:
            value = box.input.value()
        except schema.Unreadable as error:
            self._unread[name] = error.problem
            value = box.field.default
        self._spec = schema.with_value(self._spec, name, value)
        self._check()
        self.spec_changed.emit(self._spec)

    def _check(self) -> None:
        first = {problem.field: problem for problem in reversed(self.problems())}
        for name, box in self._boxes.items():
            box.show_problem(first.get(name))
            box.show_choice(schema.value_of(self._spec, name))
        shown = {field.name for field in schema.fields(self._type) if schema.is_shown(self._spec, field)}
        for card in self._cards.values():
            card.place(shown)
        self._show_implied()

    def _show_implied(self) -> None:
        texts = self._implied(self._spec) if self._implied else {}
        for name, box in self._boxes.items():
            box.input.show_implied(texts.get(name, t("form.implied") if box.field.optional else ""))
