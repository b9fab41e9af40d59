"""The registry of all actions: menus, shortcuts and the command palette show what is registered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QKeySequence

from ui.widgets.icons import show_icon
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

_KEY, _ICON = "action_key", "action_icon"


def register(
    window: QWidget, id: str, key: str, do: Callable[[], object], shortcut: str = "", icon: str = ""
) -> QAction:
    """An action of a page or of the window. Its shortcut works while `window` is shown; the registry forgets it with
    `window`. `key` is its text, `id` its object name."""
    action = QAction(window)
    action.setObjectName(id)
    action.setProperty(_KEY, key)
    action.setAutoRepeat(False)
    if shortcut:
        action.setShortcut(QKeySequence(shortcut))
    action.setProperty(_ICON, icon)
    if icon:
        show_icon(action, icon, "dim")
    localize(action.setText, key)
    action.triggered.connect(lambda _checked=False: do())
    window.addAction(action)
    return action


def registered(window: QWidget) -> list[QAction]:
    """What was registered in a window, its pages included, in the order of registration."""
    return [action for action in window.findChildren(QAction) if action.property(_KEY)]


def key_of(action: QAction) -> str:
    """The key of its text, by which it is found in both languages."""
    return str(action.property(_KEY))


def icon_of(action: QAction) -> str:
    return str(action.property(_ICON))


def shortcut_text(action: QAction) -> str:
    return action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
