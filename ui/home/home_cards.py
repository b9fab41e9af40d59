"""The cards of Home: the steps of the project, the machine, recent runs, what needs attention."""

from __future__ import annotations

import platform
from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from backends.common.npu_devices import npu_names
from studio import interpreters
from studio.machine import free_space, machine
from studio.sentences import reason_of
from studio.texts import t
from studio.units import size
from ui.home.journey_steps import PROJECT, needing_attention, steps
from ui.home.run_row import RunRow
from ui.services.run_titles import title_of, when
from ui.widgets.basic import (
    Card,
    Chip,
    Elided,
    Sentence,
    button,
    label,
    line,
    retone,
    show_icon,
    text_button,
)
from ui.widgets.localized import localize
from ui.widgets.page_scroll import empty

if TYPE_CHECKING:
    from pathlib import Path

    from studio.feature import StepState
    from studio.run import Glance, Run
    from ui.home.journey_steps import HomeStep
    from ui.services.session import Session
    from ui.widgets.basic import Tone

RECENT = 6
SIGNS = {
    "done": ("check", "good"),
    "next": ("chevron-right", "accent"),
    "later": ("clock", "faint"),
    "open": ("folder", "faint"),
}
STATES = {
    "done": "journey.done",
    "next": "journey.next",
    "later": "journey.later",
    "open": "journey.optional",
}


MARKS: dict[StepState, str] = {
    "working": "journey.working",
    "stopped": "journey.stopped",
    "problem": "journey.problem",
}
MARK_SIGNS = {"problem": ("warning", "bad")}
MARK_TONES: dict[StepState, Tone] = {"working": "accent", "stopped": "neutral", "problem": "bad"}


class StepRow(QWidget):
    """A step: its sign, what it is, and its button while it is the next."""

    step_requested = Signal(str)

    def __init__(self, step: HomeStep) -> None:
        super().__init__()
        self.step = step
        self._sign = QLabel()
        self._sign.setFixedSize(20, 20)
        self._title, self._state = label(role="strong"), Chip()
        self.sentence = Sentence()
        self.go = button("", f"home.step.{step.id}")
        self.go.clicked.connect(lambda: self.step_requested.emit(self.step.id))
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self._title)
        words.addWidget(self.sentence)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        row.addWidget(self._state)
        row.addWidget(self.go)

    def show_step(self, step: HomeStep, prominent: bool) -> None:
        self.step = step
        is_done = step.state == "done"
        icon, colour = MARK_SIGNS.get(step.mark, SIGNS[step.state])
        is_feature = step.state == "open" and step.id != PROJECT
        show_icon(self._sign, step.id if is_feature else icon, colour, 18)
        localize(self._title.setText, step.key)
        localize(self.sentence.setText, step.text_key)
        localize(self.go.setText, step.key)
        retone(self.go, "role", "primary" if prominent else "")
        self.go.setVisible(step.has_button)
        self._state.setVisible(step.state != "next" or bool(step.mark))
        self._state.show_state(t(self._state_key()), MARK_TONES.get(step.mark, "good" if is_done else "neutral"))

    def _state_key(self) -> str:
        return MARKS[self.step.mark] if self.step.mark else STATES[self.step.state]

    def retranslate(self) -> None:
        self._state.setText(t(self._state_key()))


class JourneyCard(Card):
    step_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__("home.journey")
        self._rows: dict[str, StepRow] = {}
        self.steps: tuple[HomeStep, ...] = ()

    def show_steps(self, session: Session, prominent: bool, *, uses_gpu: bool = False) -> None:
        """`prominent`: whether the next step's button is the page's primary one."""
        shown = self.steps = steps(session, uses_gpu=uses_gpu)
        for step in shown:
            if step.id not in self._rows:
                self._add(step)
            self._rows[step.id].show_step(step, prominent and step.state == "next")

    def _add(self, step: HomeStep) -> None:
        if self._rows:
            self.body.addWidget(line())
        self._rows[step.id] = StepRow(step)
        self._rows[step.id].step_requested.connect(self.step_requested)
        self.body.addWidget(self._rows[step.id])


@lru_cache(maxsize=1)
def _mindspore() -> str:
    return interpreters.packages(interpreters.embedded()).get("mindspore", "")


class MachineCard(Card):
    def __init__(self) -> None:
        super().__init__("home.machine")
        self._folder: Path | None = None
        self._values: dict[str, Elided] = {}
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        names = ("home.device", "home.cores", "home.memory", "home.disk", "home.python", "home.mindspore")
        for row, key in enumerate(names):
            self._values[key] = Elided()
            self._values[key].setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(label(key, "dim"), row, 0)
            grid.addWidget(self._values[key], row, 1)
        self.body.addLayout(grid)

    def show_machine(self, runs: Path) -> None:
        """Show the facts of this host; `runs` is the folder of the runs."""
        self._folder = runs
        host, free = machine(), free_space(runs)
        needy = len(npu_names())
        texts = {
            "home.device": t("home.npus", count=needy) if needy else t("home.no_npu"),
            "home.cores": str(host.cores),
            "home.memory": size(host.memory) if host.memory else t("home.unknown"),
            "home.disk": t("home.unknown") if free is None else size(free),
            "home.python": platform.python_version(),
            "home.mindspore": _mindspore() or t("home.no_mindspore"),
        }
        for key, text in texts.items():
            self._values[key].setText(text)

    def retranslate(self) -> None:
        if self._folder:
            self.show_machine(self._folder)


class RecentCard(Card):
    run_requested = Signal(object)

    def __init__(self) -> None:
        super().__init__("home.recent")
        self.all_runs = text_button("home.all_runs", "home.all_runs")
        self.header.addWidget(self.all_runs)
        self._empty = Sentence("home.no_runs")
        self.body.setSpacing(4)
        self.body.addWidget(self._empty)
        self.rows: list[RunRow] = []

    def show_runs(self, listed: list[tuple[Run, Glance]]) -> None:
        """Show the newest runs; rows are reused."""
        newest = listed[:RECENT]
        while len(self.rows) < len(newest):
            self._add_row()
        for row, entry in zip(self.rows, newest, strict=False):
            row.show_run(*entry)
        for index, row in enumerate(self.rows):
            row.setVisible(index < len(newest))
        self._empty.setVisible(not newest)
        self.all_runs.setVisible(bool(newest))

    def _add_row(self) -> None:
        row = RunRow()
        row.setObjectName(f"home.run.{len(self.rows)}")
        row.clicked.connect(lambda: self.run_requested.emit(row.run))
        self.rows.append(row)
        self.body.addWidget(row)


class AttentionCard(Card):
    run_requested = Signal(object)

    def __init__(self) -> None:
        super().__init__("home.attention")
        sign = QLabel()
        sign.setFixedSize(18, 18)
        show_icon(sign, "warning", "bad", 18)
        self.header.insertWidget(0, sign)
        self._listed: list[tuple[Run, Glance]] = []
        self._rows = QVBoxLayout()
        self._rows.setSpacing(10)
        self.body.addLayout(self._rows)

    def show_runs(self, listed: list[tuple[Run, Glance]]) -> None:
        needy = needing_attention(listed)
        if needy != self._listed:
            self._listed = needy
            self.retranslate()
        self.setVisible(bool(needy))

    def retranslate(self) -> None:
        empty(self._rows)
        for run, glance in self._listed:
            row = self._row(run, glance)
            self._rows.addWidget(row)
            row.show()

    def _row(self, run: Run, glance: Glance) -> QWidget:
        row = QWidget()
        name = Elided(role="strong")
        name.setText(f"{title_of(run)} · {when(run)}")
        reason = Sentence()
        reason.setText(reason_of(run.folder, glance))
        open_button = text_button("home.look", f"home.look.{run.name}")
        open_button.clicked.connect(lambda: self.run_requested.emit(run))
        top = QHBoxLayout()
        top.addWidget(name, 1)
        top.addWidget(open_button)
        column = QVBoxLayout(row)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(top)
        column.addWidget(reason)
        return row
