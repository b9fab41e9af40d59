"""Labels of text from outside: never wider than there is room, whole where it matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from tests.ui.looks import settle
from ui.widgets.basic import Chip, Elided, Sentence, label
from ui.widgets.labels import LONGEST, WIDEST, button_text
from ui.widgets.log_excerpt import LogExcerpt
from ui.widgets.log_lines import log_end

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

WORD = "q" * 300
HOSTILE = "\x1b]0;owned\x07re\u202ead\x9bm me"


@pytest.fixture
def place(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    QVBoxLayout(made)
    made.resize(400, 300)
    return made


def show(place: QWidget, widget: QWidget) -> None:
    place.layout().addWidget(widget)
    place.show()
    settle()


@pytest.mark.parametrize("make", [Sentence, label, Elided, Chip, LogExcerpt])
def test_that_no_word_makes_its_page_wider(place: QWidget, make: type[QLabel]) -> None:
    for text in (WORD, f"a {WORD} z", "y" * 1_000_000, f"{WORD}\n{WORD}"):
        widget = make()
        widget.setText(text)
        show(place, widget)
        assert place.minimumSizeHint().width() <= 400
        assert widget.width() <= place.width() == 400


@pytest.mark.parametrize("make", [Sentence, label, Elided, Chip, LogExcerpt])
def test_that_no_text_hides_or_reorders_a_part_of_itself(make: type[QLabel]) -> None:
    widget = make()
    widget.setText(HOSTILE)
    assert getattr(widget, "whole_text", widget.text)() == "read me"


def test_that_a_sentence_breaks_within_a_long_word_and_is_copied_as_it_is(place: QWidget) -> None:
    sentence = Sentence()
    sentence.setText(f"a {WORD} z")
    show(place, sentence)
    document = sentence.findChild(QTextDocument)
    assert document is not None, "Qt keeps the text of a label that can be selected in a document below it."
    assert document.idealWidth() <= sentence.width()
    assert sentence.height() >= 300 * sentence.fontMetrics().horizontalAdvance("q") // 400 * 12
    sentence.setSelection(0, len(sentence.text()))
    assert sentence.selectedText() == f"a {WORD} z"


def test_that_a_sentence_of_usual_words_asks_for_what_a_label_asks_for(place: QWidget) -> None:
    sentence, plain = Sentence(), QLabel()
    plain.setWordWrap(True)
    for text in (
        "short",
        "a sentence that is long enough for a second line and for a third one, at 400 px",
        "中文" * 60,
    ):
        for widget in (sentence, plain):
            widget.setProperty("role", "dim")
            widget.setText(text)
        show(place, sentence)
        show(place, plain)
        assert sentence.minimumSizeHint().width() == plain.minimumSizeHint().width()
        assert sentence.heightForWidth(200) == plain.heightForWidth(200)


def test_that_a_sentence_of_a_maximum_width_asks_for_the_height_that_it_takes_there(place: QWidget) -> None:
    """A layout that is wider asked for one line less, and rows beside the sentence were cut."""
    sentence = Sentence()
    sentence.setParent(place)
    sentence.setText("The measured peaks do not tell how many more would fit. " * 3)
    sentence.setMaximumWidth(200)
    assert sentence.heightForWidth(1000) == sentence.heightForWidth(200) > sentence.fontMetrics().height()


def test_that_a_line_is_whole_where_there_is_room_and_short_where_there_is_none(place: QWidget) -> None:
    line, neighbour = label(role="strong"), QPushButton("beside")
    row = QHBoxLayout()
    row.addWidget(line)
    row.addWidget(neighbour)
    place.layout().addLayout(row)
    line.setText("short")
    place.show()
    settle()
    assert (QLabel.text(line), line.toolTip()) == ("short", "")
    line.setText(WORD)
    settle()
    assert line.text() == WORD
    assert QLabel.text(line).endswith("…")
    assert (line.toolTip(), line.minimumSizeHint().width()) == (WORD, WIDEST)
    place.resize(4000, 300)
    settle()
    assert (QLabel.text(line), line.toolTip()) == (WORD, "")


def test_that_a_chip_keeps_the_state_at_its_end(place: QWidget) -> None:
    chip = Chip()
    chip.show_state(f"{WORD} · Failed", "bad")
    show(place, chip)
    assert QLabel.text(chip).endswith("Failed")


def test_that_of_a_very_long_text_beginning_and_end_are_laid_out() -> None:
    sentence = Sentence()
    sentence.setText("begin" + "x" * 1_000_000 + "end")
    assert sentence.text().startswith("beginx")
    assert sentence.text().endswith("xend")
    assert len(sentence.text()) < LONGEST + 10


def test_that_a_name_on_a_button_is_short_and_no_key(place: QWidget) -> None:
    assert button_text(place, f"a&b\n{HOSTILE}") == "a&&b read me"
    assert place.fontMetrics().horizontalAdvance(button_text(place, WORD, 200)) <= 200


def test_that_lines_of_a_log_scroll_in_their_own_frame(place: QWidget) -> None:
    excerpt = LogExcerpt()
    excerpt.setText("\n".join(["short", WORD]))
    show(place, excerpt)
    assert excerpt.horizontalScrollBar().isVisible()
    assert not excerpt.verticalScrollBar().isVisible()
    assert excerpt.viewport().height() >= 2 * excerpt.fontMetrics().lineSpacing()
    excerpt.setText("short")
    settle()
    assert not excerpt.horizontalScrollBar().isVisible()
    assert excerpt.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse


def test_that_the_end_of_a_log_is_there_however_long_its_last_line(tmp_path: Path) -> None:
    log = tmp_path / "output.log"
    assert log_end(log) == []
    log.write_bytes(b"one\n\x1b[31mtwo\x1b[0m\n10 %\r20 %")
    assert log_end(log) == ["one", "two", "20 %"]
    log.write_bytes(b"x" * 1_000_000 + b" the end\n")
    assert log_end(log)[0].startswith("… x")
    assert log_end(log)[0].endswith("x the end")
