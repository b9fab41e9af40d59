"""Hands for the timeline: real clicks and keys at places that are worked out from what is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from tests.ui.looks import settle

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtGui import QAction
    from PySide6.QtWidgets import QWidget
    from pytestqt.qtbot import QtBot

    from backends.timeline.trace import Trace
    from ui.shell.window import Shell
    from ui.timeline.page import TimelinePage


def page_of(shell: Shell) -> TimelinePage:
    from ui.timeline.page import TimelinePage

    shell.show_page("timeline")
    page = shell.findChild(TimelinePage)
    assert page is not None
    return page


def open_profile(qtbot: QtBot, shell: Shell, path: Path) -> TimelinePage:
    """As a drop on the window does."""
    page = page_of(shell)
    shell.open_path(path)
    wait_opened(qtbot, page, path)
    return page


def wait_opened(qtbot: QtBot, page: TimelinePage, path: Path) -> None:
    qtbot.waitUntil(lambda: page.opened is not None and page.path == path and not page.opening.is_at_work)
    qtbot.waitUntil(lambda: page.view.canvas.painting is not None)
    settle()


def trace_of(page: TimelinePage) -> Trace:
    assert page.state.trace is not None
    return page.state.trace


def position_of(page: TimelinePage, index: int) -> QPoint:
    """The middle of a slice on the canvas, which must be in view."""
    state, canvas = page.state, page.view.canvas
    band = state.lanes.bands[state.lanes.bands.of_row(trace_of(page).row_of(index))]
    begin, end = state.times_of(index)
    x = ((begin + end) / 2 - state.viewport.begin) / state.viewport.span * canvas.width()
    top = band.top if band.is_pinned else band.top - state.viewport.scroll
    return QPoint(round(x), round(top + band.drawn / 2))


def click_slice(page: TimelinePage, index: int) -> None:
    QTest.mouseClick(page.view.canvas, Qt.MouseButton.LeftButton, pos=position_of(page, index))


def press_key(widget: QWidget, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(widget, key, modifier)
    settle()


def drag(widget: QWidget, begin: QPoint, end: QPoint) -> None:
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QTest.mousePress(widget, left, none, begin)
    QTest.mouseMove(widget, QPoint((begin.x() + end.x()) // 2, begin.y()))
    QTest.mouseMove(widget, end)
    QTest.mouseRelease(widget, left, none, end)


def choose(text: str) -> None:
    """The entry of the menu that is open."""
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    found = next(action for action in every_action(menu) if action.text() == text)
    assert found.isEnabled(), text
    menu.close()
    found.trigger()
    settle()


def every_action(menu: QMenu) -> list[QAction]:
    below = [sub for action in menu.actions() if isinstance(sub := action.menu(), QMenu)]
    return [*menu.actions(), *(action for sub in below for action in every_action(sub))]
