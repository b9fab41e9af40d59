"""What is done with all widgets is done with widgets alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QPushButton, QWidgetItem

from ui.widgets.all_widgets import all_widgets

if TYPE_CHECKING:
    import pytest
    from pytestqt.qtbot import QtBot


def test_that_an_item_of_a_layout_in_the_place_of_a_widget_is_left_out(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    button = QPushButton()
    qtbot.addWidget(button)
    both = [QWidgetItem(button), button]
    monkeypatch.setattr("ui.widgets.all_widgets.QApplication.allWidgets", lambda: both)
    assert all_widgets() == [button]
