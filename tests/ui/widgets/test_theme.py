"""Both themes can be read: every pair of colours that is used has the contrast that WCAG AA asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QSpinBox

from ui.widgets import icons, theme
from ui.widgets.basic import (
    Card,
    Chip,
    Elided,
    button,
)

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

TEXT, SHAPE = 4.5, 3.0
GROUNDS = ("page", "surface", "sunken", "selected")
READ = [(text, ground, TEXT) for text in ("text", "dim") for ground in (*GROUNDS, "line")]
READ += [("accent", ground, TEXT) for ground in ("page", "surface", "selected")]
READ += [(tone, ground, TEXT) for tone in ("good", "warning", "bad") for ground in ("page", "surface", f"{tone}_soft")]
READ += [("on_accent", "accent", TEXT), ("on_accent", "accent_hover", TEXT)]
READ += [("text", "warning_soft", TEXT), ("text", "bad_soft", TEXT), ("dim", "warning_soft", TEXT)]
READ += [("accent", "bad_soft", TEXT), ("dim", "bad_soft", TEXT)]
READ += [("edge", "surface", SHAPE), ("edge", "page", SHAPE), ("accent", "surface", SHAPE), ("accent", "page", SHAPE)]


def luminance(color: QColor) -> float:
    parts = [value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4 for value in color.getRgbF()[:3]]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: QColor, other: QColor) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_that_every_pair_of_colours_can_be_read(name: str) -> None:
    tokens = {token: QColor(value) for token, value in theme.TOKENS[name].items()}
    weak = [
        (first, second, round(found, 2))
        for first, second, least in READ
        if (found := contrast(tokens[first], tokens[second])) < least
    ]
    assert not weak


@pytest.mark.parametrize("name", ["light", "dark"])
def test_that_every_curve_stands_out_from_its_ground(name: str) -> None:
    surface = QColor(theme.TOKENS[name]["surface"])
    assert not [value for value in theme.SERIES[name] if contrast(QColor(value), surface) < SHAPE]


def test_that_both_themes_have_the_same_tokens() -> None:
    assert theme.TOKENS["light"].keys() == theme.TOKENS["dark"].keys()


def test_that_a_change_of_theme_is_told_and_draws_icons_again(qapp: QApplication, qtbot: QtBot) -> None:
    card, made = Card("app.name"), button("action.quit", "quit")
    qtbot.addWidget(card)
    card.body.addWidget(made)
    icons.show_icon(made, "quit")
    before = made.icon().pixmap(20, 20).toImage()
    with qtbot.waitSignal(theme.notifier().changed):
        theme.apply(qapp, "dark")
    assert theme.is_dark()
    assert made.icon().pixmap(20, 20).toImage() != before


def test_that_a_chip_takes_the_colour_of_its_tone(qtbot: QtBot) -> None:
    chip = Chip()
    qtbot.addWidget(chip)
    chip.show_state("42", "good")
    good = chip.grab().toImage()
    chip.show_state("42", "bad")
    assert chip.grab().toImage() != good


def test_that_the_number_in_a_spin_box_can_be_seen(qtbot: QtBot) -> None:
    box = QSpinBox()
    qtbot.addWidget(box)
    box.resize(120, 31)
    box.setValue(8)
    box.show()
    eight = box.grab().toImage()
    box.setValue(1)
    assert box.grab().toImage() != eight


def test_that_a_long_text_is_shortened_and_whole_in_its_tooltip(qtbot: QtBot) -> None:
    path = Elided()
    qtbot.addWidget(path)
    path.resize(60, 20)
    path.setText("/a/very/long/path\nwith a newline")
    path.show()
    assert path.text().endswith("…")
    assert path.toolTip() == "/a/very/long/path with a newline"
