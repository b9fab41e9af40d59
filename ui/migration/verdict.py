"""What stands between a project and an NPU, as one sentence and one bar whose parts filter the findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from backends.migration.found import STATES
from studio.texts import t
from ui import theme
from ui.migration.names import STATE_HINTS, TOKENS, counted, state_name
from ui.migration.state_mark import mark_icon
from ui.say import say
from ui.widgets import Card, Elided, label, text_button

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent, QResizeEvent

    from backends.migration.found import State
    from ui.migration.results import Scan

HEIGHT = 10
LEAST = 5
ROOM_FOR_WORDS = 860
SAID: dict[State, tuple[str, str]] = {
    "auto": ("migration.said.auto_one", "migration.said.auto"),
    "edit": ("migration.said.edit_one", "migration.said.edit"),
    "manual": ("migration.said.manual_one", "migration.said.manual"),
    "none": ("migration.said.none_one", "migration.said.none"),
    "unverified": ("migration.said.unverified_one", "migration.said.unverified"),
}  # fmt: skip


class Bar(QWidget):
    """Parts as long as their counts, none shorter than can be seen."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[State, int] = {}
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.notifier().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(400, HEIGHT)

    def show_counts(self, counts: dict[State, int]) -> None:
        self.counts = counts
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("line"))
            painter.drawRoundedRect(QRectF(self.rect()), HEIGHT / 2, HEIGHT / 2)
            for state, left, width in parts(self.counts, self.width()):
                painter.setBrush(theme.color(TOKENS[state]))
                painter.drawRoundedRect(QRectF(left, 0, width, HEIGHT), 3, 3)


def parts(counts: dict[State, int], width: float) -> list[tuple[State, float, float]]:
    """(state, left, width) of the states that occur, a gap of 2 between them."""
    there = [(state, counts[state]) for state in STATES if counts.get(state)]
    if not there:
        return []
    room = width - 2 * (len(there) - 1) - LEAST * len(there)
    total, at, found = sum(count for _, count in there), 0.0, []
    for state, count in there:
        length = LEAST + room * count / total
        found.append((state, at, length))
        at += length + 2
    return found


class Verdict(Card):
    """`states_chosen`: the states whose buttons are down; none of them means all findings. `left_wanted`: what
    somebody decided to leave is to be shown."""

    states_chosen = Signal(frozenset)
    left_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("migration_verdict")
        self.body.setSpacing(8)
        self.body.setContentsMargins(16, 12, 16, 10)
        self.counts: dict[State, int] = {}
        self._hours = (0.0, 0.0)
        self._is_narrow = False
        self.bar = Bar()
        self.hours = label(role="strong")
        self.hours.setObjectName("migration_hours")
        say(self.hours, "setToolTip", "migration.hours_hint")
        self.since = Elided(role="hint")
        self.since.setObjectName("migration_since")
        self.left = text_button("migration.left_title", "migration_left")
        self.left.clicked.connect(self.left_wanted)
        self._left = 0
        self.buttons = {state: self._button(state) for state in STATES}
        self.body.addWidget(self.bar)
        self.body.addLayout(self._legend())
        theme.notifier().changed.connect(self._redraw)
        self._redraw()

    def _button(self, state: State) -> QPushButton:
        made = QPushButton()
        made.setObjectName(f"migration_state_{state}")
        made.setProperty("role", "legend")
        made.setCheckable(True)
        made.setIconSize(QSize(14, 14))
        say(made, "setToolTip", STATE_HINTS[state])
        made.clicked.connect(self._chosen)
        return made

    def _legend(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(4)
        for button in self.buttons.values():
            row.addWidget(button)
        row.addStretch(1)
        right = QVBoxLayout()
        right.setSpacing(0)
        right.addWidget(self.hours, 0, Qt.AlignmentFlag.AlignRight)
        last = QHBoxLayout()
        last.setSpacing(8)
        last.addStretch(1)
        last.addWidget(self.since)
        last.addWidget(self.left)
        right.addLayout(last)
        row.addLayout(right)
        return row

    def show_counts(self, counts: dict[State, int], hours: tuple[float, float], since: str, left: int) -> None:
        """`hours`: low and high of the estimate; `since`: what changed, in words; `left`: how many were left."""
        self._left = left
        self.counts, self._hours = counts, hours
        self.bar.show_counts(counts)
        self.since.setText(since)
        self.since.setVisible(bool(since))
        self.retranslate()

    def retranslate(self) -> None:
        for state, button in self.buttons.items():
            count = str(self.counts.get(state, 0))
            button.setText(f" {count}" if self._is_narrow else f" {count}  {state_name(state)}")
            button.setAccessibleName(f"{count} {state_name(state)}")
        self.hours.setText(hours_text(*self._hours))
        self.left.setText(counted("migration.suppressed_one", "migration.suppressed", self._left))
        self.left.setVisible(self._left > 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Too narrow for words, the counts and their signs stay; the words are in the tooltips."""
        super().resizeEvent(event)
        if (is_narrow := self.width() < ROOM_FOR_WORDS) != self._is_narrow:
            self._is_narrow = is_narrow
            self.retranslate()

    def chosen(self) -> frozenset[State]:
        return frozenset(state for state, button in self.buttons.items() if button.isChecked())

    def choose(self, states: frozenset[State]) -> None:
        for state, button in self.buttons.items():
            button.setChecked(state in states)

    def _chosen(self) -> None:
        self.states_chosen.emit(self.chosen())

    def _redraw(self) -> None:
        for state, button in self.buttons.items():
            button.setIcon(mark_icon(state))


def hours_text(low: float, high: float) -> str:
    """'About 2–5 h …', as exact as an estimate is."""
    begin, end = _rounded(low), _rounded(high)
    if not high:
        return t("migration.no_hours")
    if end == "0":
        return t("migration.hours_little")
    if begin == "0":
        return t("migration.hours_most", hours=end)
    return t("migration.hours", hours=begin if begin == end else f"{begin}–{end}")


def _rounded(hours: float) -> str:
    return f"{round(hours * 2) / 2:g}" if 0 < hours < 5 else f"{round(hours)}"


def verdict_sentence(counts: dict[State, int]) -> str:
    """'52 of 96 places need nothing, 33 edits are ready, 9 need you, 2 have no way.' Nothing is said of none."""
    total = sum(counts.values())
    if not total:
        return t("migration.verdict_nothing")
    parts = [_said_of(state, counts[state], total) for state in STATES if counts[state] or state == "auto"]
    text = t("migration.verdict", parts=t("migration.verdict_comma").join(parts))
    return text[0].upper() + text[1:]


def _said_of(state: State, n: int, total: int) -> str:
    one, many = SAID[state]
    if n == 0:
        return t("migration.said.auto_zero", total=total)
    return t(one if n == 1 else many, n=n, total=total)


def since_text(scan: Scan) -> str:
    return "" if scan.new is None else t("migration.since", done=scan.done, new=scan.new)
