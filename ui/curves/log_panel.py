"""The bottom drawer: a head that opens it, and under it the log with search and level filter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from studio.texts import t
from ui.curves.rank_log_choice import RankLogChoice
from ui.widgets.basic import (
    Elided,
    SearchField,
    label,
    line,
    text_button,
)
from ui.widgets.icons import show_icon
from ui.widgets.localized import localize, set_unlocalized
from ui.widgets.log_view import LogView, limits_sentence

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
        self.view.grown.connect(self._show_state)
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
        self.choice = RankLogChoice()
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
        self._levels.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._levels.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._levels.addItems([t(key) for key in LEVELS])
        self._levels.currentIndexChanged.connect(self.view.show_levels)
        localize(self._levels.setToolTip, "log.level_hint")
        localize(self._levels.setAccessibleName, "log.level")
        self._search = _Search()
        self._search.textChanged.connect(self.view.search)
        self._search.went.connect(self.view.next_match)
        self._count = label(role="hint")
        self._count.setMinimumWidth(64)
        self._count.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        previous, following = self._arrow("log.previous", "chevron-up", -1), self._arrow("log.next", "chevron-down", 1)
        copy = text_button("log.copy", "log.copy")
        copy.clicked.connect(self.view.copy)
        localize(copy.setToolTip, "log.copy_hint")
        level = label("log.level", "hint")
        level.setBuddy(self._levels)
        for widget in (self._follow, level, self._levels, self._search, self._count, previous, following, copy):
            row.addWidget(widget)
        return tools

    def _arrow(self, key: str, icon: str, step: int) -> QWidget:
        icon_button = text_button("", key)
        show_icon(icon_button, icon, "dim", 16)
        localize(icon_button.setToolTip, key)
        localize(icon_button.setAccessibleName, key)
        icon_button.clicked.connect(lambda: self.view.next_match(step))
        return icon_button

    def show_file(self, path: Path | None) -> None:
        """Show the log of a run; those of its ranks can be chosen."""
        self.choice.show_log(path)
        self._show_chosen(path)

    def _show_chosen(self, path: Path | None) -> None:
        self._search.clear()
        self.view.show_file(path)
        self._show_state()

    def open(self, opened: bool) -> None:
        if opened == self.is_open:
            return
        self.is_open = opened
        for widget in (self.view, self._rule, self._tools):
            widget.setVisible(opened)
        self.choice.offer(opened)
        self._follow.setVisible(opened and not self.view.is_following)
        show_icon(self._toggle, "chevron-down" if opened else "chevron-right", "dim", 16)
        self._show_state()
        self.opened.emit(opened)

    def find_text(self) -> None:
        """Opens the log with the cursor in the search field."""
        self.open(True)
        self._search.setFocus()
        self._search.selectAll()

    def _show_state(self) -> None:
        """Closed: the last line. Open: what the view leaves out, if it does."""
        lines = self.view.lines
        if self.is_open:
            self._last.setText(limits_sentence(lines))
        elif lines is None or not len(lines) - lines.first:
            self._last.setText(t("log.empty") if lines else "")
        else:
            self._last.setText(lines.last())

    def _show_count(self, current: int, total: int) -> None:
        if not self._search.text():
            set_unlocalized(self._count.setText)
        elif not total:
            localize(self._count.setText, "log.no_match")
        elif current:
            set_unlocalized(self._count.setText, f"{current} / {total}")
        else:
            localize(self._count.setText, "log.matches", n=total)

    def retranslate(self) -> None:
        for index, key in enumerate(LEVELS):
            self._levels.setItemText(index, t(key))
        self.choice.retranslate()
        self._show_state()


class _Search(SearchField):
    went = Signal(int)

    def __init__(self) -> None:
        super().__init__("log.search", "log.search", 200)
        localize(self.setToolTip, "log.search_hint")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.went.emit(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        elif event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)
