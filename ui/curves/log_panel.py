"""The bottom drawer: a head that opens it, and under it the log with search and level filter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from studio.texts import t
from ui.curves.log_choice import LogChoice
from ui.icons import show_icon
from ui.log_view import LogView, limits_told
from ui.say import say, unsay
from ui.widgets import Elided, label, line, text_button

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtGui import QKeyEvent

LEVELS = ("log.all", "log.warnings", "log.errors")


class LogPanel(QFrame):
    """Closed it is one line high and names the last line of the log."""

    opened = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("log_panel")
        self.setProperty("role", "card")
        self.view = LogView()
        self.is_open = True
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 4, 8, 4)
        column.setSpacing(4)
        column.addWidget(self._make_head())
        self._rule = line()
        column.addWidget(self._rule)
        column.addWidget(self.view, 1)
        self.view.counted.connect(self._show_count)
        self.view.following_changed.connect(lambda following: self._follow.setVisible(not following and self.is_open))
        self.view.grown.connect(self._tell)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        find.activated.connect(self.find_text)
        self.open(False)

    def _make_head(self) -> QWidget:
        head = QWidget()
        row = QHBoxLayout(head)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self._toggle = text_button("log.title", "log_toggle")
        self._toggle.clicked.connect(lambda: self.open(not self.is_open))
        self._last = Elided(role="hint")
        self.choice = LogChoice()
        self.choice.chosen.connect(self._show_chosen)
        row.addWidget(self._toggle)
        row.addWidget(self.choice)
        row.addWidget(self._last, 1)
        self._tools = self._make_tools()
        row.addWidget(self._tools)
        return head

    def _make_tools(self) -> QWidget:
        tools = QWidget()
        row = QHBoxLayout(tools)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        self._follow = text_button("log.follow", "log.follow")
        self._follow.clicked.connect(self.view.follow)
        self._follow.hide()
        self._levels = QComboBox()
        self._levels.setObjectName("log.level")
        self._levels.addItems([t(key) for key in LEVELS])
        self._levels.currentIndexChanged.connect(self.view.show_levels)
        say(self._levels, "setToolTip", "log.level_hint")
        say(self._levels, "setAccessibleName", "log.level")
        self._search = _Search()
        self._search.textChanged.connect(self.view.search)
        self._search.went.connect(self.view.next_match)
        self._count = label(role="hint")
        self._count.setMinimumWidth(64)
        self._count.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        previous, following = self._arrow("log.previous", "chevron-up", -1), self._arrow("log.next", "chevron-down", 1)
        copy = text_button("log.copy", "log.copy")
        copy.clicked.connect(self.view.copy)
        say(copy, "setToolTip", "log.copy_hint")
        level = label("log.level", "hint")
        level.setBuddy(self._levels)
        for widget in (self._follow, level, self._levels, self._search, self._count, previous, following, copy):
            row.addWidget(widget)
        return tools

    def _arrow(self, key: str, icon: str, step: int) -> QWidget:
        made = text_button("", key)
        show_icon(made, icon, "dim", 16)
        say(made, "setToolTip", key)
        say(made, "setAccessibleName", key)
        made.clicked.connect(lambda: self.view.next_match(step))
        return made

    def show_file(self, path: Path | None) -> None:
        """The log of a run; those of its ranks are offered beside it."""
        self.choice.show_log(path)
        self._show_chosen(path)

    def _show_chosen(self, path: Path | None) -> None:
        self._search.clear()
        self.view.show_file(path)
        self._tell()

    def open(self, opened: bool) -> None:
        if opened == self.is_open:
            return
        self.is_open = opened
        for widget in (self.view, self._rule, self._tools):
            widget.setVisible(opened)
        self.choice.offer(opened)
        self._follow.setVisible(opened and not self.view.is_following)
        show_icon(self._toggle, "chevron-down" if opened else "chevron-right", "dim", 16)
        self._tell()
        self.opened.emit(opened)

    def find_text(self) -> None:
        """Opens the log with the cursor in the search field."""
        self.open(True)
        self._search.setFocus()
        self._search.selectAll()

    def _tell(self) -> None:
        """Closed: the last line. Open: what the view leaves out, if it does."""
        lines = self.view.lines
        if self.is_open:
            self._last.setText(limits_told(lines))
        elif lines is None or not len(lines) - lines.first:
            self._last.setText(t("log.empty") if lines else "")
        else:
            self._last.setText(lines.last())

    def _show_count(self, current: int, total: int) -> None:
        if not self._search.text():
            unsay(self._count, "setText")
        elif not total:
            say(self._count, "setText", "log.no_match")
        elif current:
            unsay(self._count, "setText", f"{current} / {total}")
        else:
            say(self._count, "setText", "log.matches", n=total)

    def retranslate(self) -> None:
        for place, key in enumerate(LEVELS):
            self._levels.setItemText(place, t(key))
        self.choice.retranslate()
        self._tell()


class _Search(QLineEdit):
    went = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("log.search")
        self.setFixedWidth(200)
        say(self, "setPlaceholderText", "log.search")
        say(self, "setAccessibleName", "log.search")
        say(self, "setToolTip", "log.search_hint")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.went.emit(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        elif event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)
