"""A form made from the fields of a spec: a card for each card, an input for each field, checked while typing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from studio import schema
from studio.texts import t
from ui.form import field_texts
from ui.form.field_box import FieldBox
from ui.form.inputs import ChoiceInput, input_of
from ui.form.section import FormSection
from ui.widgets.basic import GAP, Sentence

if TYPE_CHECKING:
    from collections.abc import Callable

    from studio.schema import Field, Problem
    from ui.form.field_box import MakeInput

    Texts = Callable[[Any], dict[str, str]]


class Form(QWidget):
    """`implied` gives, for fields that may stay empty, the text of what then follows from other choices; `summaries`
    what a folded card says, where that is not the list of what differs from the defaults; `inputs` makes the input
    of a field that wants one of its own. All by name."""

    spec_changed = Signal(object)
    help_requested = Signal(str)
    sought_all = Signal()
    """What was sought is forgotten, since a field has to be shown."""

    def __init__(
        self,
        spec_type: type[Any],
        feature: str,
        implied: Texts | None = None,
        folded: tuple[str, ...] = ("advanced",),
        inputs: dict[str, MakeInput] | None = None,
        summaries: Texts | None = None,
    ) -> None:
        super().__init__()
        self._inputs = inputs or {}
        self._feature = feature
        self._type = spec_type
        self._spec: Any = spec_type()
        self._implied, self._summaries = implied, summaries
        self._sought = ""
        self._unread: dict[str, Problem] = {}
        self._boxes: dict[str, FieldBox] = {}
        self._fields = {field.name: field for field in schema.fields(spec_type)}
        self._order = list(self._fields)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GAP)
        self._cards = {name: self._add_card(name, name in folded) for name in self._card_names()}
        self._nothing = Sentence("form.nothing_found")
        self._nothing.hide()
        self._column.addWidget(self._nothing)
        self._column.addStretch(1)
        self.set_spec(self._spec)

    def _card_names(self) -> list[str]:
        return list(dict.fromkeys(field.section for field in self._fields.values()))

    def _add_card(self, name: str, foldable: bool) -> FormSection:
        card = FormSection(self._feature, name, foldable, self.box)
        card.fold_changed.connect(self._check)
        card.help_requested.connect(self.help_requested)
        self._column.addWidget(card)
        return card

    def box(self, name: str) -> FieldBox:
        """A field's box, made now where it was never shown."""
        if name not in self._boxes:
            field = self._fields[name]
            box = self._boxes[name] = FieldBox(field, self._feature, self._inputs.get(name, input_of))
            box.setParent(self._cards[field.section])
            box.hide()
            self._show_field(box, field)
            box.input.edited.connect(lambda: self._edited(name))
        return self._boxes[name]

    def card(self, name: str) -> FormSection:
        return self._cards[name]

    def set_value(self, name: str, value: Any) -> None:
        """One field from outside: a template that was made, a table that was filled in."""
        self.set_spec(schema.with_value(self._spec, name, value))

    def spec(self) -> Any:
        """The spec of the choices; a field that cannot be read has its default there, and is among the problems."""
        return self._spec

    def set_spec(self, spec: Any) -> None:
        """Show a spec, and emit `spec_changed`."""
        self._spec = spec
        self._unread.clear()
        for box in self._boxes.values():
            self._show_field(box, box.field)
        self._check()
        self.spec_changed.emit(spec)

    def problems(self) -> tuple[Problem, ...]:
        """Everything wrong now, in the order of the fields."""
        hidden = {name for name in self._unread if not schema.is_visible(self._spec, self._fields[name])}
        unread = [problem for name, problem in self._unread.items() if name not in hidden]
        others = [problem for problem in schema.problems(self._spec) if problem.field not in self._unread]
        return tuple(sorted(unread + others, key=lambda problem: self._order.index(problem.field)))

    def focus_field(self, name: str) -> QWidget:
        """Unfolds what hides a field, gives it the focus and returns its box."""
        self.seek("")
        self.sought_all.emit()
        self._cards[self._fields[name].section].fold(False)
        box = self.box(name)
        box.input.focus.setFocus(Qt.FocusReason.OtherFocusReason)
        return box

    def seek(self, text: str) -> None:
        """Shows only the options whose name, flag or hint holds a text, their cards unfolded; all again for ''."""
        if text.strip() == self._sought:
            return
        self._sought = text.strip()
        for card in self._cards.values():
            card.open_for_search(bool(self._sought))
        self._check()

    def retranslate(self) -> None:
        self._check()

    def _edited(self, name: str) -> None:
        box = self._boxes[name]
        self._unread.pop(name, None)
        try:
            value = box.input.value()
        except schema.Unreadable as error:
            self._unread[name] = error.problem
            value = box.field.default
        self._spec = schema.with_offered_choices(schema.with_value(self._spec, name, value))
        self._offer_choices()
        self._check()
        self.spec_changed.emit(self._spec)

    def _offer_choices(self) -> None:
        """Show the choices that the other fields leave."""
        for box in self._boxes.values():
            if box.field.choices_when is not None:
                self._show_field(box, box.field)

    def _show_field(self, box: FieldBox, field: Field) -> None:
        value = schema.value_of(self._spec, field.name)
        if isinstance(box.input, ChoiceInput):
            box.input.offer(schema.choices_of(self._spec, field), value)
        box.input.show_value(value)

    def _check(self) -> None:
        first = {problem.field: problem for problem in reversed(self.problems())}
        self._lay_out_fields(first)
        for name, box in self._boxes.items():
            box.show_problem(first.get(name))
            box.show_choice(schema.value_of(self._spec, name))
        self._show_summaries(first)
        self._show_implied()

    def _lay_out_fields(self, wrong: dict[str, Problem]) -> None:
        """The fields that apply, of the cards that are open; while something is sought, those that are found."""
        visible = [field for field in self._fields.values() if schema.is_visible(self._spec, field)]
        if self._sought:
            visible = [field for field in visible if field_texts.matches(field, self._feature, self._sought)]
        for name, card in self._cards.items():
            names = [field.name for field in visible if field.section == name]
            card.setVisible(bool(names) or not self._sought)
            if not card.is_folded:
                card.lay_out_boxes(names)
        self._nothing.setVisible(not visible)

    def _show_summaries(self, wrong: dict[str, Problem]) -> None:
        texts = self._summaries(self._spec) if self._summaries else {}
        for name, card in self._cards.items():
            text = texts[name] if name in texts else field_texts.summary(self._spec, name, self._feature)
            names = [t(f"{self._feature}.field.{field}") for field in wrong if self._fields[field].section == name]
            card.show_summary(text, names)

    def _show_implied(self) -> None:
        texts = self._implied(self._spec) if self._implied else {}
        for name, box in self._boxes.items():
            box.input.show_implied(texts.get(name, t("form.implied") if box.field.optional else ""))
