"""The menu of the window and the list of its shortcuts, both made from the registered actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QMenu, QWidget

from studio.texts import t
from ui.services.actions import registered, shortcut_text
from ui.widgets.basic import label
from ui.widgets.labels import button_text
from ui.widgets.popover import Popover

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QAction

SECTIONS = ("project", "page", "tab", "window")


def section_of(action: QAction) -> str:
    """The section of the menu that an action belongs to: the first part of its id; any other id belongs to a page."""
    head = action.objectName().partition(".")[0]
    return head if head in SECTIONS else "page"


def main_menu(window: QWidget) -> QMenu:
    """All actions that can be done now, by section."""
    menu = QMenu(window)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    actions = registered(window)
    for section in SECTIONS:
        for action in actions:
            if section_of(action) == section and _belongs(action, window):
                menu.addAction(action)
        menu.addSeparator()
    return menu


def _belongs(action: QAction, window: QWidget) -> bool:
    """The actions of a page stand in the menu while it is shown; the palette has them always."""
    owner = action.parent()
    return owner is window or (isinstance(owner, QWidget) and owner.isVisible())


def project_menu(window: QWidget, recent: list[str], choose: Callable[[str], object]) -> QMenu:
    menu = QMenu(window)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    for action in registered(window):
        if section_of(action) == "project":
            menu.addAction(action)
    if recent:
        menu.addSeparator()
        menu.addAction(t("shell.recent")).setEnabled(False)
        for folder in recent:
            entry = menu.addAction(button_text(window, folder))
            entry.triggered.connect(lambda _checked=False, folder=folder: choose(folder))
    return menu


def shortcuts_list(window: QWidget) -> Popover:
    """What the keys do, by section."""
    sheet = Popover(window, "shortcuts_list", 400)
    sheet.column.addWidget(label("shell.shortcuts", "title"))
    grid = QGridLayout()
    grid.setHorizontalSpacing(24)
    grid.setVerticalSpacing(7)
    actions = [action for action in registered(window) if not action.shortcut().isEmpty()]
    for row, action in enumerate(sorted(actions, key=lambda action: SECTIONS.index(section_of(action)))):
        name, keys = label(), label(role="dim")
        name.setText(action.text())
        keys.setText(shortcut_text(action))
        grid.addWidget(name, row, 0)
        grid.addWidget(keys, row, 1, Qt.AlignmentFlag.AlignRight)
    sheet.column.addLayout(grid)
    return sheet
