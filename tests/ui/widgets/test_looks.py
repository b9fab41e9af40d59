"""The checker of looks finds what it is for, and nothing where all is well."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton, QTableWidget, QVBoxLayout, QWidget

from tests.ui.looks import faults, left_in_chinese, settle
from ui.widgets.basic import (
    Card,
    Chip,
    Elided,
    Empty,
    Figure,
    Sentence,
    Title,
    button,
    primary_button,
    text_button,
)

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


@pytest.fixture
def place(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    made.resize(600, 500)
    QVBoxLayout(made)
    return made


def found_in(place: QWidget, *widgets: QWidget) -> list[str]:
    for widget in widgets:
        place.layout().addWidget(widget)
    place.show()
    settle()
    return faults(place)


def test_that_our_own_pieces_have_no_faults(place: QWidget) -> None:
    chip = Chip()
    chip.show_state("running", "accent")
    path = Elided()
    path.setText("/very/long/path" * 40)
    figure = Figure("state.running")
    figure.show_value("742 / 1000", "steps", "26 s left")
    card = Card("app.name")
    card.body.addWidget(Sentence("drop.here_why"))
    buttons = [make("action.quit", "quit") for make in (button, primary_button, text_button)]
    assert found_in(place, Title("feature.home"), chip, path, figure, card, *buttons) == []


def test_that_an_empty_page_has_no_faults(place: QWidget) -> None:
    assert found_in(place, Empty("curves", "shell.no_project", "drop.here_why", "action.open_project", "x")) == []


def test_that_clipped_text_is_found(place: QWidget) -> None:
    label, push, choice, field = QLabel("a long text"), QPushButton("a long text"), QComboBox(), QLineEdit()
    choice.addItem("a long choice")
    field.setPlaceholderText("a long placeholder")
    for widget in (label, push, choice, field):
        widget.setFixedWidth(40)
    assert len(found_in(place, label, push, choice, field)) == 4


def test_that_a_sentence_without_height_is_found(place: QWidget) -> None:
    sentence = Sentence("drop.here_why")
    sentence.setFixedSize(200, 16)
    assert "px of height" in found_in(place, sentence)[0]


def test_that_a_clipped_heading_is_found(place: QWidget) -> None:
    table = QTableWidget(1, 2)
    table.setHorizontalHeaderLabels(["a long heading", "b"])
    table.setColumnWidth(0, 30)
    assert "the heading 'a long heading'" in found_in(place, table)[0]


def test_that_ids_and_holes_are_found_and_file_names_are_not(place: QWidget) -> None:
    texts = ("shell.of_tomorrow", "run.json", "feature.x {'a': 1}", "3.14", "{path} holds too little", '{"lr": 1}')
    assert len(found_in(place, *(QLabel(text) for text in texts))) == 3


def test_that_overlap_and_squeezing_are_found(place: QWidget) -> None:
    one, other = QLabel("one"), QLabel("other")
    found_in(place, one, other)
    other.setGeometry(one.geometry())
    assert any("overlap" in fault for fault in faults(place))
    other.setGeometry(one.geometry().translated(0, 10_000))
    assert any("is not inside" in fault for fault in faults(place))
    other.resize(0, 0)
    assert any("no room" in fault for fault in faults(place))


def test_that_a_text_left_in_chinese_is_found(place: QWidget) -> None:
    found_in(place, QLabel("曲线"), QLabel("Curves"))
    assert len(left_in_chinese(place)) == 1
