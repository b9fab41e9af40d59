"""The table of shard strategies on the Launch page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from studio import schema
from tests.launch.specs import launch_spec
from tests.ui import looks
from ui.launch.page import LaunchPage, make_page
from ui.launch.strategy_table import StrategyTable
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from ui.services.session import Session

DENSE = {"recipe": "dense", "parallel": "semi_auto", "mode": "graph", "workers": 8}


@pytest.fixture
def page(qtbot: QtBot, session: Session) -> LaunchPage:
    made = make_page(session)
    qtbot.addWidget(made)
    made.resize(1400, 900)
    made.show()
    made.form.set_spec(launch_spec(**DENSE))
    made.form.focus_field("strategy")
    return made


def table_of(page: LaunchPage) -> StrategyTable:
    table = page.form.box("strategy").input
    assert isinstance(table, StrategyTable)
    return table


def seen(page: LaunchPage) -> list[tuple[str, str, str, str]]:
    rows = table_of(page)._rows
    return [(row.key.text(), row.shapes.text(), row.text.text(), row.check.text()) for row in rows]


def test_that_a_recipe_brings_its_operators_with_the_shapes_of_all_devices(page: LaunchPage) -> None:
    free = "MindSpore chooses."
    assert seen(page) == [
        ("matmul1", "256x64 · 64x128", "", free),
        ("relu", "256x128", "", free),
        ("matmul2", "256x128 · 128x16", "", free),
    ]
    page.form.set_value("batch", 4)
    assert seen(page)[1][1] == "32x128"
    assert schema.value_of(page.form.spec(), "strategy") == ()


def test_that_it_is_filled_in_by_keyboard_and_each_row_says_whether_it_fits(page: LaunchPage, qtbot: QtBot) -> None:
    page.activateWindow()
    qtbot.waitUntil(lambda: page.focusWidget() is table_of(page)._rows[0].text)
    QTest.keyClicks(page.focusWidget(), "2x1,1x4")
    QTest.keyClick(page.focusWidget(), Qt.Key.Key_Tab)
    QTest.keyClicks(page.focusWidget(), "3x1")
    assert schema.value_of(page.form.spec(), "strategy") == (("matmul1", "2x1,1x4"), ("relu", "3x1"))
    assert [row[3] for row in seen(page)][:2] == ["Fits.", "3 does not divide 256: strategy 3x1, shape 256x128."]
    assert not page.start_button.isEnabled()
    change_language("zh")
    assert [row[3] for row in seen(page)][::2] == ["可行。", "由 MindSpore 决定。"]


def test_that_an_own_recipe_has_rows_of_its_own(page: LaunchPage) -> None:
    page.form.set_spec(launch_spec(**DENSE | {"recipe": "own", "strategy": (("attention", "2x4"), ("mlp", "9x1"))}))
    assert [row[3] for row in seen(page)] == [
        "There are enough devices.",
        "The strategy 9x1 needs 9 devices; there are 8.",
    ]
    table_of(page)._rows[1].remove.click()
    table_of(page)._add.click()
    row = table_of(page)._rows[1]
    QTest.keyClicks(row.key, "norm")
    QTest.keyClicks(row.text, "8x1")
    assert schema.value_of(page.form.spec(), "strategy") == (("attention", "2x4"), ("norm", "8x1"))


def test_that_a_strategy_for_an_operator_that_is_gone_stays_and_is_refused(page: LaunchPage) -> None:
    page.form.set_spec(launch_spec(**DENSE | {"strategy": (("attention", "2x4"),)}))
    assert seen(page)[-1][3] == "The recipe has no operator 'attention'. It has matmul1, relu, matmul2."
    table_of(page)._rows[-1].remove.click()
    assert [row[0] for row in seen(page)] == ["matmul1", "relu", "matmul2"]
    assert page.start_button.isEnabled()


def test_that_a_recipe_without_operators_says_so(page: LaunchPage) -> None:
    page.form.set_value("recipe", "digits")
    assert seen(page) == []
    assert table_of(page)._none.isVisible()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_that_nothing_of_it_is_cut_off(page: LaunchPage, language: str) -> None:
    page.form.set_spec(launch_spec(**DENSE | {"strategy": (("matmul1", "2x1,1x4"), ("relu", "3x1"), ("gelu", "1x1"))}))
    change_language("zh" if language == "zh" else "en")
    looks.settle()
    assert looks.faults(table_of(page)) == []
