"""The form made from a spec: every field has its words, is checked as one types, and writes what the line writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from backends.launch.recipes import RECIPES
from backends.launch.spec import LaunchSpec
from studio import schema
from tests.launch.specs import SPECS
from tests.ui.form.entries import choice, line, pick, type_into
from ui.form import field_texts
from ui.form.form import Form
from ui.form.inputs import LineInput
from ui.form.pairs_input import PairsInput
from ui.launch.spec_sentences import empty_field_texts
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot


@pytest.fixture
def form(qtbot: QtBot) -> Form:
    made = Form(LaunchSpec, "launch", empty_field_texts)
    qtbot.addWidget(made)
    made.resize(700, 900)
    made.show()
    return made


def words(form: Form, name: str) -> list[str]:
    """What is shown at a field."""
    box = form.box(name)
    return [label.text() for label in box.findChildren(QLabel) if label.isVisible()]


def test_that_a_new_form_is_the_default_spec_without_problems(form: Form) -> None:
    assert form.spec() == LaunchSpec()
    assert form.problems() == ()


def test_that_every_shown_field_has_a_name_and_a_hint(form: Form) -> None:
    for field in schema.fields(LaunchSpec):
        form.card(field.section).fold(False)
        if schema.is_visible(form.spec(), field):
            assert len([text for text in words(form, field.name) if text]) >= 2


@pytest.mark.parametrize("spec", SPECS)
def test_that_what_is_shown_is_what_is_read(form: Form, spec: LaunchSpec) -> None:
    form.set_spec(spec)
    for field in schema.fields(LaunchSpec):
        form.box(field.name).input.edited.emit()
    assert schema.to_json(form.spec()) == schema.to_json(spec)


def test_that_typing_changes_the_spec_and_tells_it(form: Form, qtbot: QtBot) -> None:
    with qtbot.waitSignal(form.spec_changed):
        type_into(form, "batch", "64")
    assert form.spec().how.batch == 64


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("batch", "abc", "'abc' is not a whole number."),
        ("batch", "0", "At least 1."),
        ("lr", "0", "Must be more than 0."),
        ("lr", "1000", "At most 100."),
        ("seed", "", "'' is not a whole number."),
        ("steps", "1.5", "'1.5' is not a whole number."),
    ],
)
def test_that_a_wrong_text_is_said_at_its_field(form: Form, name: str, text: str, said: str) -> None:
    type_into(form, name, text)
    assert said in words(form, name)
    assert line(form, name).property("wrong") == "true"
    assert [problem.field for problem in form.problems()] == [name]


def test_that_a_corrected_field_is_right_again(form: Form) -> None:
    type_into(form, "batch", "abc")
    type_into(form, "batch", "16")
    assert form.problems() == ()
    assert line(form, "batch").property("wrong") == "false"
    assert "Samples in one forward pass." in words(form, "batch")


def test_that_what_is_wrong_is_said_in_the_language_of_the_window(form: Form) -> None:
    type_into(form, "lr", "1000")
    change_language("zh")
    assert "不能大于 100。" in words(form, "lr")


def test_that_a_rule_across_fields_marks_one_of_them(form: Form) -> None:
    type_into(form, "steps", "10")
    type_into(form, "epochs", "2")
    assert "Give steps or epochs, not both." in words(form, "epochs")
    type_into(form, "steps", "")
    assert form.problems() == ()


def test_that_a_field_that_does_not_apply_is_hidden_and_never_wrong(form: Form) -> None:
    box = form.box("corpus")
    assert not box.isVisible()
    pick(form, "recipe", "text")
    assert box.isVisible()
    type_into(form, "corpus", "/no/such/folder")
    assert [problem.field for problem in form.problems()] == ["corpus"]
    pick(form, "recipe", "digits")
    assert form.problems() == ()


def test_that_a_change_of_recipe_keeps_what_was_typed(form: Form) -> None:
    type_into(form, "lr", "0.02")
    pick(form, "recipe", "linear")
    assert form.spec().learning.lr == 0.02
    assert line(form, "lr").text() == "0.02"


def test_that_an_empty_field_says_what_follows_from_the_recipe(form: Form) -> None:
    assert line(form, "batch").placeholderText() == f"Recipe's: {RECIPES['digits'].batch}"
    assert choice(form, "optimizer").itemText(0) == "Recipe's: AdamW"
    pick(form, "recipe", "linear")
    assert choice(form, "optimizer").itemText(0) == "Recipe's: SGD"
    change_language("zh")
    assert choice(form, "optimizer").itemText(0) == "样例值：SGD"


def test_that_epochs_say_what_the_steps_become(form: Form) -> None:
    type_into(form, "steps", "600")
    assert line(form, "epochs").placeholderText() == "= 13.4"
    type_into(form, "steps", "")
    type_into(form, "epochs", "1")
    assert line(form, "steps").placeholderText() == "= 45"


def test_that_the_wheel_over_a_choice_does_not_change_it(form: Form) -> None:
    box = choice(form, "mode")
    box.setFocus()
    place, zero = QPointF(5, 5), QPoint()
    down = QWheelEvent(
        place, place, zero, QPoint(0, -240), Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    box.wheelEvent(down)
    assert box.currentData() == "pynative"


def test_that_a_dropped_folder_is_its_path(form: Form, tmp_path: Path) -> None:
    pick(form, "recipe", "text")
    field, data = line(form, "corpus"), QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path))])
    drop = QDropEvent(
        QPointF(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    field.dropEvent(drop)
    assert form.spec().what.corpus == tmp_path


def test_that_variables_are_rows_that_can_be_added_and_removed(form: Form) -> None:
    form.findChild(QPushButton, "launch.advanced.fold").click()
    pairs = form.findChild(PairsInput, "launch.env")
    assert pairs is not None
    row = pairs._append("", "")
    QTest.keyClicks(row.key, "GLOG_v")
    QTest.keyClicks(row.text, "2")
    assert form.spec().advanced.env == (("GLOG_v", "2"),)
    pairs._append("GLOG_v", "3")
    pairs.edited.emit()
    assert "GLOG_v is listed twice." in words(form, "env")
    pairs._rows[1].removed.emit()
    pairs._rows[0].removed.emit()
    assert form.spec().advanced.env == ()
    assert form.problems() == ()


def test_that_a_value_without_a_name_is_said(form: Form) -> None:
    form.findChild(QPushButton, "launch.advanced.fold").click()
    pairs = form.findChild(PairsInput, "launch.env")
    assert pairs is not None
    row = pairs._append("", "")
    QTest.keyClicks(row.text, "2")
    assert [problem.rule for problem in form.problems()] == ["form.not_a_pair"]


def test_that_advanced_choices_are_folded_until_asked_for(form: Form) -> None:
    assert not line(form, "grace").isVisible()
    fold = form.findChild(QPushButton, "launch.advanced.fold")
    assert fold.text() == "Show"
    fold.click()
    assert line(form, "grace").isVisible()
    assert fold.text() == "Hide"


def test_that_the_focus_finds_a_folded_field(form: Form) -> None:
    form.focus_field("python")
    assert line(form, "python").isVisible()


def test_that_the_tab_key_goes_through_the_fields_in_order(form: Form) -> None:
    order = [choice(form, "recipe"), choice(form, "mode"), choice(form, "device"), line(form, "batch")]
    order += [line(form, "accumulate"), choice(form, "amp"), choice(form, "optimizer"), line(form, "lr")]
    at: QWidget = order[0]
    met = []
    for _ in range(500):
        if at in order:
            met.append(at)
        at = at.nextInFocusChain()
    assert met[: len(order)] == order


def test_that_a_number_is_shown_without_noise(form: Form) -> None:
    assert line(form, "grace").text() == "60"
    assert isinstance(line(form, "grace"), LineInput)


def test_that_a_folded_card_says_what_is_set_as_its_language_writes_it(form: Form) -> None:
    spec = schema.with_value(schema.with_value(LaunchSpec(), "grace", 5.0), "device", "cpu")
    assert field_texts.summary(spec, "advanced", "launch").endswith(": 5 s")
    change_language("zh")
    assert "：" in field_texts.summary(spec, "advanced", "launch")
