"""Precision: two captures compared, and the operator that was the first to go wrong."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QVBoxLayout, QWidget

from backends.precision.compare.spec import CompareSpec, pairs_text
from studio import schema
from ui import actions
from ui.past_runs import LIVE
from ui.precision.compared import state_of
from ui.precision.going_on import GoingOn
from ui.precision.head import Head
from ui.precision.latest import TRAININGS, Latest
from ui.precision.starts import Starts
from ui.precision.views import CAPTURE, COMPARE, Views
from ui.widgets import MARGIN, Sentence
from ui.working import Working

if TYPE_CHECKING:
    from PySide6.QtGui import QShowEvent
    from PySide6.QtWidgets import QPushButton

    from studio.project import Project
    from studio.run import Glance, Run
    from ui.precision.captures import Capture
    from ui.precision.compare_view import CompareView
    from ui.precision.compared import Compared
    from ui.session import Session

DOING = {
    "compare": "precision.page.doing_compare", "config-check": "precision.page.doing_config",
    "compare-losses": "precision.page.doing_losses", "compare-weights": "precision.page.doing_weights",
    "determinism": "precision.page.doing_determinism", "deeper": "precision.page.doing_deeper",
    "overflow-check": "precision.page.doing_overflow", "acc-check": "precision.page.doing_acc",
    "script": "precision.page.doing_capture", "launch": "precision.page.doing_capture",
}  # fmt: skip


def make_page(session: Session) -> PrecisionPage:
    return PrecisionPage(session)


class PrecisionPage(QWidget):
    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setObjectName("page")
        self.session = session
        self._project: Project | None = session.project
        self._begun: set[str] = set()
        self.starts, self.latest = Starts(session, self), Latest(session, self)
        self._make()
        self.going_on = GoingOn(self)
        self._connect()
        self._register()
        session.runs_changed.connect(self._runs_changed)
        session.project_changed.connect(self._project_changed)
        self._runs_changed(session.listed)

    # How it is built

    def _make(self) -> None:
        self.head, self.views = Head(), Views(self.session)
        self.tabs = self.head.tabs
        self.working = Working(self.session, DOING, "precision")
        self.sentence = Sentence()
        self.sentence.setObjectName("precision_sentence")
        for widget in (self.sentence, self.working):
            widget.setContentsMargins(0, 0, MARGIN, 0)
        column = QVBoxLayout(self)
        # The views scroll, and their bars lie in the right margin.
        column.setContentsMargins(MARGIN, 18, 0, 16)
        column.setSpacing(8)
        column.addWidget(self.head)
        column.addWidget(self.sentence)
        column.addWidget(self.working)
        column.addWidget(self.views, 1)
        self.views.show_view(COMPARE)

    def _connect(self) -> None:
        self.head.tab_chosen.connect(self._show_tab)
        self.starts.begun.connect(self._expect)
        self.latest.captures_read.connect(self.views.show_captures)
        self.latest.captures_read.connect(lambda _captures: self._say())
        self.latest.compared_read.connect(self._compared_read)
        self.latest.answer_read.connect(self._answer_read)
        self.views.start_wanted.connect(self.starts.begin)
        self.views.side_chosen.connect(self._use_side)
        self.compare.compare_wanted.connect(self.start_compare)
        self.compare.again_wanted.connect(self.compare_again)
        self.compare.run_chosen.connect(self.latest.read_compared)
        self.compare.capture_wanted.connect(partial(self.tabs.setCurrentIndex, CAPTURE))
        self.compare.turned.connect(self._say)

    def _register(self) -> None:
        add = actions.register
        add(self, "precision_do_compare", "precision.start.compare", self._compare_picked, "Ctrl+Return", "precision")
        add(self, "precision_pick_others", "precision.page.other", self.pick_others)
        add(self, "precision_look_again", "precision.page.look_again", self.latest.look_again, "F5")

    @property
    def compare(self) -> CompareView:
        return self.views.compare

    def add_action(self, widget: QPushButton) -> None:
        """A button of the comparison that is shown."""
        self.head.add_action(widget)

    # What is asked for

    def pick_others(self) -> None:
        self.tabs.setCurrentIndex(COMPARE)
        self.compare.show_pick()

    def take_dump(self, path: Path) -> None:
        """A dump that was dropped on the window."""
        self.pick_others()
        self.compare.pick.take(path)

    def _use_side(self, side: str, capture: Capture) -> None:
        self.pick_others()
        pick = self.compare.pick
        before = (pick.golden if side == "target" else pick.target).capture
        other = before if before is not None and before.path != capture.path else self.views.like(capture)
        pick.show_pair(*((capture, other) if side == "target" else (other, capture)))
        pick.focus_first()

    def _compare_picked(self) -> None:
        if self.tabs.currentIndex() == COMPARE and not self.compare.is_result and self.compare.pick.compare.isEnabled():
            self.start_compare()

    def start_compare(self) -> None:
        """Of what is picked; the form is taken again for the next one."""
        pick = self.compare.pick
        if pick.target.capture is None or pick.golden.capture is None:
            return
        again = pick.golden_again
        values = {
            "target": pick.target.capture.path, "golden": pick.golden.capture.path, "msprobe": pick.msprobe.isChecked(),
            "golden_again": again.path if again else Path(), "pairs": pairs_text(pick.pairs.by_hand),
        }  # fmt: skip
        spec: Any = CompareSpec()
        for name, value in values.items():
            spec = schema.with_value(spec, name, value)
        self.starts.begin("compare", spec)

    def compare_again(self, run: Run) -> None:
        self.starts.begin("compare", schema.from_json(CompareSpec, run.asked.values)[0])

    def _expect(self, run: Run) -> None:
        self._begun.add(run.name)
        self.latest.expect(run)

    # What is shown

    def _show_tab(self, tab: int) -> None:
        self.views.show_view(tab)
        self._say()

    def _project_changed(self, project: Project | None) -> None:
        """Told again when only its trust changed."""
        if project != self._project:
            self._project = project
            self._begun.clear()
            self.latest.forget()
            self.views.forget()
        self._say()

    def _runs_changed(self, listed: list[tuple[Run, Glance]]) -> None:
        self.working.show_run(*self._at_work(listed))
        self.latest.look(listed)
        self.going_on.look(listed)
        self.compare.show_comparisons(self.latest.comparisons)
        self.views.show_runs()
        self._say()

    def _at_work(self, listed: list[tuple[Run, Glance]]) -> tuple[Run | None, Glance | None]:
        """The newest that works for this page; of trainings only those that it started itself."""
        for run, glance in listed:
            command = run.asked.command
            if glance.state in LIVE and command in DOING and (command not in TRAININGS or run.name in self._begun):
                return run, glance
        return None, None

    def _compared_read(self, found: Compared) -> None:
        self.going_on.report.compared = found
        self.compare.show_compared(found)
        self._say()

    def _answer_read(self, command: str, run: Run, answer: Any) -> None:
        self.views.show_answer(command, run, answer)
        self._say()

    def _say(self) -> None:
        text = self.views.sentence()
        self.sentence.setText(text)
        self.sentence.setVisible(bool(text))
        found = self.compare.compared
        if found is not None and self.compare.is_result and self.tabs.currentIndex() == COMPARE:
            self.head.show_state(*state_of(found), actions=True)
        else:
            self.head.show_state("")

    def showEvent(self, event: QShowEvent) -> None:
        """A capture may have ended meanwhile."""
        super().showEvent(event)
        self.latest.look_again()

    def retranslate(self) -> None:
        self._say()
