"""Mouse actions on the precision page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QComboBox, QPushButton, QWidget

from tests.ui import looks

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from ui.precision.page import PrecisionPage


def press(within: QWidget, name: str) -> None:
    """Press a button; after a row is filled again the old button exists for a moment, so only visible ones count."""
    looks.settle()
    buttons = [button for button in within.findChildren(QPushButton, name) if button.isVisible()]
    assert len(buttons) == 1, name
    assert buttons[0].isEnabled(), name
    buttons[0].click()


def choose(within: QWidget, name: str, row: int) -> None:
    """Choose an entry of a combo box as a click would."""
    box = within.findChild(QComboBox, name)
    assert box is not None
    box.setCurrentIndex(row)
    box.activated.emit(row)


def drop_on(widget: QWidget, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    none = Qt.KeyboardModifier.NoModifier
    event = QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, none)
    widget.dropEvent(event)


def wait_for_captures(page: PrecisionPage, qtbot: QtBot, count: int) -> None:
    qtbot.waitUntil(lambda: page.session.refresh_runs() or len(page.views._captures) == count)
