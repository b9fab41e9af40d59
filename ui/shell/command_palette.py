"""Ctrl+K: everything that can be done, found by what one types in either language. Enter does it, Escape closes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QLineEdit, QListView, QVBoxLayout

from ui.shell.palette_rows import (
    ROW,
    Entry,
    MatchDelegate,
    MatchList,
    ranked,
)
from ui.widgets import theme
from ui.widgets.basic import label, line
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QModelIndex, QPersistentModelIndex
    from PySide6.QtWidgets import QWidget

    Index = QModelIndex | QPersistentModelIndex

WIDTH, ROWS = 560, 9


class CommandPalette(QFrame):
    """A frame over the window, not a popup: an input method can write into it. It closes when it loses the focus."""

    def __init__(self, window: QWidget, entries: Callable[[], list[Entry]]) -> None:
        super().__init__(window)
        self._window = window
        self.setObjectName("command_palette")
        self.setProperty("role", "popup")
        self._entries = entries
        self._all: list[Entry] = []
        self._input = QLineEdit()
        self._input.setObjectName("palette_input")
        localize(self._input.setPlaceholderText, "palette.input")
        localize(self._input.setAccessibleName, "palette.input")
        self._matches = MatchList(self)
        self._list = QListView()
        self._list.setObjectName("palette_list")
        self._list.setModel(self._matches)
        self._list.setItemDelegate(MatchDelegate(self._list))
        self._list.setUniformItemSizes(True)
        self._list.setMouseTracking(True)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._nothing = label("palette.nothing", "dim")
        self._nothing.setContentsMargins(10, 6, 10, 10)
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(6, 6, 6, 6)
        column.setSpacing(4)
        for widget in (self._input, line(), self._list, self._nothing):
            column.addWidget(widget)
        self._input.textChanged.connect(self._search)
        self._input.installEventFilter(self)
        self._list.clicked.connect(self._do_index)
        self._before: QWidget | None = None
        theme.application().focusChanged.connect(self._follow_focus)
        self.hide()

    def open(self) -> None:
        """Open the palette, or close it where it is open."""
        if self.isVisible():
            self.leave()
            return
        self._before = QApplication.focusWidget()
        self._all = self._entries()
        self._input.clear()
        self._search("")
        self.move_into_window()
        self.show()
        self.raise_()
        self._input.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def leave(self) -> None:
        """Close it, and give the focus back."""
        self.hide()
        if self._before is not None and self._before.isVisible():
            self._before.setFocus(Qt.FocusReason.PopupFocusReason)
        self._before = None

    def move_into_window(self) -> None:
        """Move it into the upper middle of the window, also after the window was resized."""
        window = self._window
        width = min(WIDTH, window.width() - 32)
        rows = min(self._matches.rowCount(), ROWS)
        self._list.setFixedHeight(rows * ROW + 4)
        self.resize(width, self._column.sizeHint().height())
        self.move((window.width() - width) // 2, min(64, window.height() // 8))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._key(Qt.Key(event.key()))
        return super().eventFilter(watched, event)

    def _key(self, key: Qt.Key) -> bool:
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: ROWS, Qt.Key.Key_PageUp: -ROWS}
        if key == Qt.Key.Key_Escape:
            self.leave()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._do_index(self._list.currentIndex())
        elif key in steps:
            self._move(steps[key])
        else:
            return False
        return True

    def _move(self, by: int) -> None:
        last = self._matches.rowCount() - 1
        row = self._list.currentIndex().row() + by
        if abs(by) == 1:
            row %= last + 1 or 1
        self._list.setCurrentIndex(self._matches.index(max(0, min(row, last))))

    def _search(self, typed: str) -> None:
        matches = ranked(typed, self._all)
        self._matches.show_entries(matches)
        self._list.setVisible(bool(matches))
        self._nothing.setVisible(not matches)
        if matches:
            self._list.setCurrentIndex(self._matches.index(0))
        self.move_into_window()

    def _do_index(self, index: Index) -> None:
        entry = self._matches.entry(index.row())
        self.leave()
        if entry is not None:
            entry.do()

    def _follow_focus(self, _before: QWidget | None, now: QWidget | None) -> None:
        if self.isVisible() and now is not None and now is not self and not self.isAncestorOf(now):
            self._before = None
            self.hide()

    def retranslate(self) -> None:
        """The entries are in the language in which they were made, so they are made again."""
        if self.isVisible():
            self._all = self._entries()
            self._search(self._input.text())
