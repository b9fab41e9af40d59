"""The verdict on a project: a bar of its findings by state, and buttons that filter by state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from backends.migration.finding import STATES
from backends.migration.scan.overview import count_unanswered
from studio.texts import t
from ui.migration.finding_texts import (
    STATE_COLORS,
    STATE_HINTS,
    counted_text,
    state_name,
)
from ui.migration.run_results import count_states
from ui.migration.state_mark import mark_icon
from ui.widgets import theme
from ui.widgets.basic import (
    Card,
    Elided,
    label,
    text_button,
)
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPaintEvent, QResizeEvent

    from backends.migration.finding import FindingState, ScanFinding
    from backends.migration.scan.overview import ApiUse
    from ui.migration.run_results import Scan

HEIGHT = 10
MIN_LENGTH = 5
AROUND_WORDS, MARGINS = 48, 64
"""Pixels of a state's icon and padding, and of what surrounds the legend."""
STATE_SENTENCES: dict[FindingState, tuple[str, str]] = {
    "auto": ("migration.said.auto_one", "migration.said.auto"),
    "edit": ("migration.said.edit_one", "migration.said.edit"),
    "manual": ("migration.said.manual_one", "migration.said.manual"),
    "none": ("migration.said.none_one", "migration.said.none"),
    "unverified": ("migration.said.unverified_one", "migration.said.unverified"),
}  # fmt: skip


class StateBar(QWidget):
    """A bar of segments proportional to their counts, each wide enough to be visible."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[FindingState, int] = {}
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.notifier().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(400, HEIGHT)

    def show_counts(self, counts: dict[FindingState, int]) -> None:
        """Show the counts. `hours`: low and high estimate; `since`: what changed since the previous scan, in words;
        `suppressed`: the number of suppressed findings."""
        self.counts = counts
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("line"))
            painter.drawRoundedRect(QRectF(self.rect()), HEIGHT / 2, HEIGHT / 2)
            for state, left, width in bar_spans(self.counts, self.width()):
                painter.setBrush(theme.color(STATE_COLORS[state]))
                painter.drawRoundedRect(QRectF(left, 0, width, HEIGHT), 3, 3)


def bar_spans(counts: dict[FindingState, int], width: float) -> list[tuple[FindingState, float, float]]:
    """Return (state, left, width) of the states that occur, with a gap of 2 pixels between them."""
    occurring = [(state, counts[state]) for state in STATES if counts.get(state)]
    if not occurring:
        return []
    room = width - 2 * (len(occurring) - 1) - MIN_LENGTH * len(occurring)
    total, left, spans = sum(count for _, count in occurring), 0.0, []
    for state, count in occurring:
        length = MIN_LENGTH + room * count / total
        spans.append((state, left, length))
        left += length + 2
    return spans


class VerdictCard(Card):
    """`states_chosen`: the states whose buttons are down, none for all findings; `suppressed_requested`: the
    suppressed findings are to be shown."""

    states_chosen = Signal(frozenset)
    suppressed_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("migration_verdict")
        self.body.setSpacing(8)
        self.body.setContentsMargins(16, 12, 16, 10)
        self.counts: dict[FindingState, int] = {}
        self._hours = (0.0, 0.0)
        self.bar = StateBar()
        self.hours = label(role="strong")
        self.hours.setObjectName("migration_hours")
        localize(self.hours.setToolTip, "migration.hours_hint")
        self.since = Elided(role="hint")
        self.since.setObjectName("migration_since")
        self.suppressed = text_button("migration.left_title", "migration_left")
        self.suppressed.clicked.connect(self.suppressed_requested)
        self._suppressed_count = 0
        self.buttons = {state: self._button(state) for state in STATES}
        self.body.addWidget(self.bar)
        self.body.addLayout(self._legend())
        theme.notifier().changed.connect(self._redraw)
        self._redraw()

    def _button(self, state: FindingState) -> QPushButton:
        button = QPushButton()
        button.setObjectName(f"migration_state_{state}")
        button.setProperty("role", "legend")
        button.setCheckable(True)
        button.setIconSize(QSize(14, 14))
        localize(button.setToolTip, STATE_HINTS[state])
        button.clicked.connect(self._emit_states)
        return button

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
        last.addWidget(self.suppressed)
        right.addLayout(last)
        row.addLayout(right)
        return row

    def show_counts(
        self, counts: dict[FindingState, int], hours: tuple[float, float], since: str, suppressed: int
    ) -> None:
        """`hours`: low and high of the estimate; `since`: what changed, in words; `left`: how many were left."""
        self._suppressed_count = suppressed
        self.counts, self._hours = counts, hours
        self.bar.show_counts(counts)
        self.since.setText(since)
        self.since.setVisible(bool(since))
        self.retranslate()

    def retranslate(self) -> None:
        self.hours.setText(hours_text(*self._hours))
        self.suppressed.setText(
            counted_text("migration.suppressed_one", "migration.suppressed", self._suppressed_count)
        )
        self.suppressed.setVisible(self._suppressed_count > 0)
        self._show_states()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_states()

    def _show_states(self) -> None:
        """Leave the words out where they do not fit in this font: counts and icons stay, tooltips have the words."""
        texts = {state: (str(self.counts.get(state, 0)), state_name(state)) for state in self.buttons}
        words = [
            self.fontMetrics().horizontalAdvance(f" {count}  {name}") + AROUND_WORDS for count, name in texts.values()
        ]
        is_narrow = self.width() < sum(words) + self.hours.sizeHint().width() + MARGINS
        for state, (count, name) in texts.items():
            self.buttons[state].setText(f" {count}" if is_narrow else f" {count}  {name}")
            self.buttons[state].setAccessibleName(f"{count} {name}")

    def chosen_states(self) -> frozenset[FindingState]:
        return frozenset(state for state, button in self.buttons.items() if button.isChecked())

    def choose_states(self, states: frozenset[FindingState]) -> None:
        for state, button in self.buttons.items():
            button.setChecked(state in states)

    def _emit_states(self) -> None:
        self.states_chosen.emit(self.chosen_states())

    def _redraw(self) -> None:
        for state, button in self.buttons.items():
            button.setIcon(mark_icon(state))


def hours_text(low: float, high: float) -> str:
    """Return, for example, 'About 2–5 h …', rounded as befits an estimate."""
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


def verdict_of(findings: Sequence[ScanFinding], apis: Sequence[ApiUse] = ()) -> str:
    """Return the verdict on findings, how much advice they hold besides, and for how many of `apis` no table
    answers."""
    advice, unanswered = sum(not finding.is_counted for finding in findings), count_unanswered(apis)
    sentences = [verdict_sentence(count_states(findings))]
    if advice:
        sentences.append(t("migration.verdict_advice", n=advice))
    if unanswered:
        sentences.append(t("migration.scan.apis", count=unanswered, total=len(apis)))
    return t("migration.changes.space").join(sentences)


def verdict_sentence(counts: dict[FindingState, int]) -> str:
    """Return '52 of 96 places need nothing, 33 edits are ready, 9 need you, 2 have no way.', without states that do
    not occur."""
    total = sum(counts.values())
    if not total:
        return t("migration.verdict_nothing")
    clauses = [_state_sentence(state, counts[state], total) for state in STATES if counts[state] or state == "auto"]
    text = t("migration.verdict", parts=t("migration.verdict_comma").join(clauses))
    return text[0].upper() + text[1:]


def _state_sentence(state: FindingState, n: int, total: int) -> str:
    singular, plural = STATE_SENTENCES[state]
    if n == 0:
        return t("migration.said.auto_zero", total=total)
    return t(singular if n == 1 else plural, n=n, total=total)


def since_text(scan: Scan) -> str:
    return "" if scan.new is None else t("migration.since", done=scan.done, new=scan.new)
