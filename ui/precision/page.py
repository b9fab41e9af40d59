"""Precision: two captures compared, and the first operator that went wrong."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from backends.common.child_run import BEGUN
from backends.precision import FEATURE
from backends.precision.compare.spec import CompareSpec, pairs_text
from studio import files, schema
from studio.errors import StudioError
from ui.precision.comparison.elsewhere_bar import ElsewhereBar
from ui.precision.comparison.follow_ups import FollowUps
from ui.precision.comparison.loaded_comparison import chip_state, comparison_title
from ui.precision.page_head import PageHead
from ui.precision.run_results import TRAININGS, RunResults
from ui.precision.views import CAPTURE, COMPARE, Views
from ui.services import actions
from ui.services.background import run_in_background
from ui.services.past_runs import LIVE
from ui.services.run_progress import RunProgress
from ui.widgets.basic import MARGIN, Sentence

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QShowEvent
    from PySide6.QtWidgets import QPushButton

    from studio.project import Project
    from studio.run import Glance, Run
    from ui.precision.captures import Capture
    from ui.precision.comparison.loaded_comparison import LoadedComparison
    from ui.precision.comparison.view import CompareView
    from ui.services.session import Session

TRAINING_DOING = "precision.page.doing_capture"


def make_page(session: Session) -> PrecisionPage:
    return PrecisionPage(session)


def open_dump(page: PrecisionPage, path: Path) -> None:
    """Open a dump that was dropped on the window."""
    page.take_dump(path)


def doing(command: str) -> str:
    """Return the text key of what a run does for this page, "" for one that it does not show."""
    return TRAINING_DOING if command in TRAININGS else FEATURE.doing(command)


class PrecisionPage(QWidget):
    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setObjectName("page")
        self.session = session
        self._project: Project | None = session.project
        self._started: set[str] = set()
        self.run_starter, self.run_results = RunStarter(session, self), RunResults(session, self, self._may_open)
        self._build()
        self.follow_ups = FollowUps(self)
        self._connect()
        self._register()
        session.runs_changed.connect(self._runs_changed)
        session.project_changed.connect(self._project_changed)
        self._runs_changed(session.listed)

    def _build(self) -> None:
        self.head, self.views = PageHead(), Views(self.session)
        self.tabs = self.head.tabs
        self.working = RunProgress(self.session, "precision", doing)
        self.elsewhere = ElsewhereBar()
        self.sentence = Sentence()
        self.sentence.setObjectName("precision_sentence")
        for widget in (self.sentence, self.working):
            widget.setContentsMargins(0, 0, MARGIN, 0)
        column = QVBoxLayout(self)
        # The views scroll, and their scroll bars lie in the right margin.
        column.setContentsMargins(MARGIN, 18, 0, 16)
        column.setSpacing(8)
        column.addWidget(self.head)
        column.addWidget(self.sentence)
        column.addWidget(self.working)
        bar = QHBoxLayout()
        bar.setContentsMargins(0, 0, MARGIN, 0)
        bar.addWidget(self.elsewhere)
        column.addLayout(bar)
        column.addWidget(self.views, 1)
        self.views.show_view(COMPARE)

    def _connect(self) -> None:
        self.head.tab_chosen.connect(self._show_tab)
        self.run_starter.started.connect(self._watch_run)
        self.run_results.captures_read.connect(self.views.show_captures)
        self.run_results.captures_read.connect(lambda _captures: self._update_head())
        self.run_results.comparison_loaded.connect(self._show_loaded)
        self.run_results.comparison_elsewhere.connect(self._mention)
        self.elsewhere.chosen.connect(self._show_elsewhere)
        self.run_results.answer_read.connect(self._show_answer)
        self.views.start_requested.connect(self.run_starter.start)
        self.views.side_chosen.connect(self._use_side)
        self.compare.compare_requested.connect(self.start_compare)
        self.compare.repeat_requested.connect(self.compare_again)
        self.compare.run_chosen.connect(self.run_results.open_comparison)
        self.compare.capture_requested.connect(partial(self.tabs.setCurrentIndex, CAPTURE))
        self.compare.switched.connect(self._update_head)

    def _register(self) -> None:
        add = actions.register
        add(self, "precision_do_compare", "precision.start.compare", self._compare_if_ready, "Ctrl+Return", "precision")
        add(self, "precision_pick_others", "precision.page.other", self.choose_others)
        add(self, "precision_look_again", "precision.page.look_again", self.run_results.refresh_captures, "F5")

    @property
    def compare(self) -> CompareView:
        return self.views.compare

    def add_action(self, widget: QPushButton) -> None:
        """Add a button that acts on the comparison that is shown."""
        self.head.add_action(widget)

    def choose_others(self) -> None:
        self.tabs.setCurrentIndex(COMPARE)
        self.compare.show_sides()

    def take_dump(self, path: Path) -> None:
        """Take a dump that was dropped on the window."""
        self.choose_others()
        self.compare.sides.take_dump(path)

    def _use_side(self, side: str, capture: Capture) -> None:
        self.choose_others()
        sides = self.compare.sides
        previous = (sides.golden if side == "target" else sides.target).capture
        other = (
            previous if previous is not None and previous.path != capture.path else self.views.counterpart_of(capture)
        )
        sides.show_pair(*((capture, other) if side == "target" else (other, capture)))
        sides.focus_first()

    def _compare_if_ready(self) -> None:
        is_choosing = self.tabs.currentIndex() == COMPARE and not self.compare.is_result
        if is_choosing and self.compare.sides.compare.isEnabled():
            self.start_compare()

    def start_compare(self) -> None:
        """Compare the chosen sides."""
        sides = self.compare.sides
        if sides.target.capture is None or sides.golden.capture is None:
            return
        second_golden = sides.golden_again
        values = {
            "target": sides.target.capture.path,
            "golden": sides.golden.capture.path,
            "golden_again": second_golden.path if second_golden else Path(),
            "msprobe": sides.msprobe.isChecked(),
            "pairs": pairs_text(sides.pairs.manual_pairs),
        }
        spec: Any = CompareSpec()
        for name, value in values.items():
            spec = schema.with_value(spec, name, value)
        self.run_starter.start("compare", spec)

    def compare_again(self, run: Run) -> None:
        self.run_starter.start("compare", schema.from_json(CompareSpec, run.request.values)[0])

    def _may_open(self, run: Run, answer: Callable[[bool], None]) -> None:
        """Answer whether a comparison that has ended is shown by itself: one that was started here, or any where
        nothing is shown and no side is chosen. Others wait in the list."""
        sides = self.compare.sides
        is_idle = self.compare.loaded is None and sides.target.capture is None and sides.golden.capture is None
        if is_idle or run.name in self._started:
            answer(True)
            return
        folders = [started.folder for started, _ in self.session.listed if started.name in self._started]
        run_in_background(self, partial(_children, folders), lambda names: answer(run.name in names))

    def _watch_run(self, run: Run) -> None:
        self._started.add(run.name)
        self.run_results.watch(run)

    def _show_tab(self, tab: int) -> None:
        self.views.show_view(tab)
        self._update_head()

    def _project_changed(self, project: Project | None) -> None:
        """Forget the previous project; the signal is also emitted when only the trust of a project changed."""
        if project != self._project:
            self._project = project
            self._started.clear()
            self.run_results.forget()
            self.views.forget()
            self.elsewhere.hide()
        self._update_head()

    def _runs_changed(self, listed: list[tuple[Run, Glance]]) -> None:
        self.working.show_run(*self._current_run(listed))
        self.run_results.update(listed)
        self.follow_ups.report_reproducers(listed)
        self.compare.show_comparisons(self.run_results.comparisons)
        self.views.show_runs()
        self._update_head()

    def _current_run(self, listed: list[tuple[Run, Glance]]) -> tuple[Run | None, Glance | None]:
        """Return the newest live run of this page; of trainings only those that the page started."""
        for run, glance in listed:
            command = run.request.command
            if glance.state in LIVE and doing(command) and (command not in TRAININGS or run.name in self._started):
                return run, glance
        return None, None

    def _show_loaded(self, loaded: LoadedComparison) -> None:
        self.follow_ups.report.loaded = loaded
        self.compare.show_loaded(loaded)
        self._update_head()

    def _mention(self, run: Run) -> None:
        """Say that a comparison has ended that was not started here: what is read or filled in stays."""
        self.elsewhere.show_run(run, comparison_title(run, {each.name: each for each, _ in self.session.listed}))

    def _show_elsewhere(self, run: Run) -> None:
        self.tabs.setCurrentIndex(COMPARE)
        self.run_results.open_comparison(run)

    def _show_answer(self, command: str, run: Run, answer: Any) -> None:
        self.views.show_answer(command, run, answer)
        self._update_head()

    def _update_head(self) -> None:
        text = self.views.sentence()
        self.sentence.setText(text)
        self.sentence.setVisible(bool(text))
        loaded = self.compare.loaded
        if loaded is not None and self.compare.is_result and self.tabs.currentIndex() == COMPARE:
            self.head.show_state(*chip_state(loaded), actions=True)
        else:
            self.head.show_state("")

    def showEvent(self, event: QShowEvent) -> None:
        """Look for captures that have ended meanwhile."""
        super().showEvent(event)
        self.run_results.refresh_captures()

    def retranslate(self) -> None:
        self._update_head()


class RunStarter(QObject):
    """Starts the runs of this page. `started` carries the run, whose failure is reported to the user once."""

    started = Signal(object)

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session

    def start(self, command: str, spec: Any) -> Run | None:
        """Start a run; the run that the Curves page shows stays the selected one. Return None where it failed."""
        project, previous = self._session.project, self._session.run
        if project is not None and not project.folder.is_dir():
            self._session.trouble.emit(StudioError("migration.rule.no_folder", path=str(project.folder)))
            return None
        run = self._session.start(command, spec)
        if run is not None:
            self.started.emit(run)
            self._session.choose_run(previous)
        return run


def _children(folders: list[Path]) -> set[str]:
    """Return the names of the runs that the runs of these folders have started last."""
    return {name for folder in folders if isinstance(name := files.read_json(folder / BEGUN), str)}
