"""Curves: one run at the front, live or old, and others drawn beside it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSlider,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)  # fmt: skip

from backends.curves.asked import recipe_of
from backends.curves.resumed import runs_before
from backends.launch.check.beside import COMMAND as CHECK
from studio.run import outcome_of
from studio.sentences import sentence_of
from studio.texts import has, t
from ui import actions
from ui.curves.add_line_card import RULE as NOTHING_SEEN
from ui.curves.add_line_card import AddLineCard
from ui.curves.attach_card import AttachCard
from ui.curves.capture_card import COMMAND as CAPTURE
from ui.curves.capture_card import CaptureCard
from ui.curves.captured import CaptureAnswer
from ui.curves.chart_grid import ChartGrid, Shown
from ui.curves.check_card import BesideCard, CheckCard
from ui.curves.figures import FigureRow
from ui.curves.log_panel import LogPanel
from ui.curves.marks_line import MarksLine
from ui.curves.names import page_of, recipe_name, short_names, state_name, title_of, tone_of
from ui.curves.outcome import LearnedCard, ReasonCard, TimesCard, headline
from ui.curves.phase_bar import PhaseBar
from ui.curves.preview_card import COMMAND as PREVIEW
from ui.curves.preview_card import PreviewCard
from ui.curves.rehearsal_card import RehearsalCard
from ui.curves.run_list import RunList
from ui.curves.shapes_card import COMMAND as SHAPES
from ui.curves.shapes_card import ShapesCard
from ui.curves.stop_control import StopControl
from ui.icons import show_icon
from ui.launch.export_button import ExportButton
from ui.launch.weights_table import WeightsCard
from ui.launch.written_card import EXPORT, SCRIPT, TEMPLATE, WrittenCard
from ui.say import say
from ui.watcher import RunWatcher
from ui.widgets import GAP, MARGIN, Chip, Empty, Sentence, Title, button, label, text_button

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtGui import QResizeEvent, QShowEvent

    from studio.run import Glance, Run
    from ui.curves.answers import AnswerCard
    from ui.session import Session

QWIDGETSIZE_MAX = (1 << 24) - 1
SCROLL_BAR = 14
TICK = 200
LOADING_FRAME = 0.5
ROOM_FOR_RUNS = 1300
ANSWERED = ("done", "no")
PHASES = ("load", "attach", "check", "compile", "train", "evaluate", "finish")


def make_page(session: Session) -> QWidget:
    return CurvesPage(session)


def open_path(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


class CurvesPage(QWidget):
    """`watchers`: by name of a run, one for each that is drawn."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setObjectName("page")
        self.session = session
        self.run: Run | None = None
        self.watchers: dict[str, RunWatcher] = {}
        self._before: dict[Path, RunWatcher] = {}
        self._drew = 0.0
        self._told_end = ""
        self._make()
        self._register()
        self._timer = QTimer(self)
        self._timer.setInterval(TICK)
        self._timer.timeout.connect(self._tick)
        session.runs_changed.connect(self._runs_changed)
        session.run_chosen.connect(lambda _: self._choose())
        session.project_changed.connect(self._project_changed)
        self._runs_changed(session.listed)

    @property
    def watcher(self) -> RunWatcher | None:
        return self.watchers.get(self.run.name) if self.run else None

    def _make(self) -> None:
        self.stack = QStackedWidget()
        empty = Empty("curves", "curves.empty_title", "curves.empty", "curves.empty_button", "curves_go_to_launch")
        empty.clicked.connect(lambda: self.session.page_wanted.emit("launch"))
        self.stack.addWidget(empty)
        self.stack.addWidget(self._make_full())
        column = QVBoxLayout(self)
        # The scroll bar lies in the right margin, so that cards end where the buttons above them do.
        column.setContentsMargins(MARGIN, MARGIN - 6, MARGIN - SCROLL_BAR, 14)
        column.addWidget(self.stack, 1)
        column.addWidget(self.run_list.undo_line)

    def _make_full(self) -> QWidget:
        full = QWidget()
        column = QVBoxLayout(full)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        head = self._make_head()
        head.setContentsMargins(0, 0, SCROLL_BAR, 0)
        column.addLayout(head)
        self.sentence = Sentence()
        self.sentence.setObjectName("curves_sentence")
        self.sentence.setContentsMargins(0, 0, SCROLL_BAR, 0)
        column.addWidget(self.sentence)
        self.run_list = RunList(self.session)
        self.run_list.ticked.connect(self._watch_drawn)
        self.run_list.folder_wanted.connect(self.open_folder)
        row = QHBoxLayout()
        row.setSpacing(GAP)
        row.addWidget(self.run_list)
        row.addWidget(self._make_splitter(), 1)
        column.addLayout(row, 1)
        return full

    def _make_head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(12)
        self.chip = Chip()
        self.chip.setObjectName("curves_state")
        self._runs_button = text_button("curves.runs", "curves_toggle_runs")
        self._runs_button.setCheckable(True)
        show_icon(self._runs_button, "menu", "accent", 16)
        say(self._runs_button, "setToolTip", "curves.toggle_runs_hint")
        self._runs_button.clicked.connect(lambda shown: self._show_runs_drawer(shown))
        self.stop, self.export = StopControl(self.session), ExportButton(self.session)
        self.capture = CaptureCard(self.session)
        self.capture.folder_wanted.connect(open_path)
        self._copy = text_button("curves.copy_path", "curves.copy_path")
        self._copy.clicked.connect(self.copy_path)
        say(self._copy, "setToolTip", "curves.copy_path_hint")
        self._open = button("curves.open_folder", "curves.open_folder")
        self._open.clicked.connect(lambda: self.open_folder(self.run))
        row.addWidget(Title("curves.title"))
        row.addWidget(self.chip)
        row.addWidget(self._runs_button)
        row.addStretch(1)
        for widget in (self.stop, self.capture.button, self.export, self._copy, self._open):
            row.addWidget(widget)
        return row

    def _make_splitter(self) -> QSplitter:
        content = self._make_content()
        self.log = LogPanel()
        self.log.opened.connect(self._log_opened)
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(content)
        self._drawer = QWidget()
        row = QHBoxLayout(self._drawer)
        row.setContentsMargins(0, 0, SCROLL_BAR, 0)
        row.addWidget(self.log)
        self.splitter.addWidget(self._drawer)
        self.splitter.setStretchFactor(0, 1)
        self._log_opened(False)
        return self.splitter

    def _make_content(self) -> QScrollArea:
        content = QWidget()
        content.setProperty("role", "clear")
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        self.figures, self.phase, self.grid = FigureRow(), PhaseBar(), ChartGrid()
        self.reason, self.learned, self.times = ReasonCard(), LearnedCard(), TimesCard()
        self.preview, self.beside = PreviewCard(), BesideCard()
        self.shapes, self.attach = ShapesCard(), AttachCard()
        self.add_line, self.rehearsal = AddLineCard(), RehearsalCard()
        self.rehearsal.report_read.connect(self._show_story)
        self.answers: dict[str, AnswerCard] = {
            PREVIEW: self.preview, SHAPES: self.shapes, CHECK: CheckCard(), EXPORT: WrittenCard(),
            TEMPLATE: WrittenCard(),
            SCRIPT: WrittenCard(), CAPTURE: CaptureAnswer(),
        }  # fmt: skip
        self.reason.log_wanted.connect(lambda: self.log.open(True))
        self.times.launch_wanted.connect(lambda: self.session.page_wanted.emit("launch"))
        self.notice = Sentence()
        self.notice.setObjectName("curves_notice")
        self.notice.setProperty("role", "warning")
        cards = QHBoxLayout()
        cards.setSpacing(GAP)
        cards.addWidget(self.learned, 1)
        cards.addWidget(self.times, 1)
        for widget in (
            self.reason,
            self.attach,
            self.capture,
            self.add_line,
            self.rehearsal,
            *self.answers.values(),
            self.figures,
            self.notice,
        ):
            column.addWidget(widget)
        self.marks = MarksLine()
        column.addWidget(self.phase)
        column.addWidget(self.marks)
        self.phase.row.addWidget(self._make_tools())
        self.nothing = Sentence()
        self.nothing.setObjectName("curves.no_points")
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(self.nothing, 1)
        column.addWidget(self.grid, 1)
        column.addLayout(cards)
        column.addWidget(self.beside)
        self.weights = WeightsCard()
        column.addWidget(self.weights)
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setWidget(content)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.verticalScrollBar().valueChanged.connect(self.grid.later)
        self.area.verticalScrollBar().rangeChanged.connect(
            lambda _, most: column.setContentsMargins(0, 0, 2 if most else SCROLL_BAR, 0)
        )
        return self.area

    def _make_tools(self) -> QWidget:
        """How the charts are drawn."""
        self._tools = QWidget()
        row = QHBoxLayout(self._tools)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        smooth = label("curves.smoothing", "hint")
        self._smooth = QSlider(Qt.Orientation.Horizontal)
        self._smooth.setObjectName("curves.smoothing")
        self._smooth.setRange(0, 99)
        self._smooth.setFixedWidth(120)
        smooth.setBuddy(self._smooth)
        say(self._smooth, "setToolTip", "curves.smoothing_hint")
        say(self._smooth, "setAccessibleName", "curves.smoothing")
        self._smooth_value = QLabel("0.00")
        self._smooth_value.setProperty("role", "hint")
        self._smooth.valueChanged.connect(self._smoothed)
        whole = text_button("curves.show_all", "curves.show_all")
        whole.clicked.connect(lambda: self.grid.steps.show_all())
        say(whole, "setToolTip", "curves.show_all_hint")
        for widget in (smooth, self._smooth, self._smooth_value, whole):
            row.addWidget(widget)
        return self._tools

    def _register(self) -> None:
        actions.register(self, "curves.stop_run", "curves.stop_run", self.stop.ask, icon="stop")
        actions.register(self, "curves.find_in_log", "curves.find_in_log", self.log.find_text, "Ctrl+F", "search")
        actions.register(self, "curves.toggle_log", "curves.toggle_log", self._toggle_log, "Ctrl+L", "log")
        folder = self.open_folder
        actions.register(self, "curves.open_folder", "curves.open_folder", lambda: folder(self.run), "", "folder-open")
        actions.register(self, "curves.show_all", "curves.show_all", lambda: self.grid.steps.show_all(), "Ctrl+0")

    def _toggle_log(self) -> None:
        self.log.open(not self.log.is_open)

    def _smoothed(self, value: int) -> None:
        self._smooth_value.setText(f"{value / 100:.2f}")
        self.grid.smooth(value / 100)

    def _log_opened(self, is_open: bool) -> None:
        height = max(400, self.splitter.height())
        closed = self.log.sizeHint().height()
        drawer = self._drawer
        drawer.setMinimumHeight(140 if is_open else closed)
        drawer.setMaximumHeight(QWIDGETSIZE_MAX if is_open else closed)
        self.splitter.setSizes([height * 6 // 10, height * 4 // 10] if is_open else [height, closed])

    def _project_changed(self) -> None:
        self.run_list.open_project()
        self._choose()

    def _runs_changed(self, listed: list[tuple[Run, Glance]]) -> None:
        mine = self._mine()
        self.run_list.show_runs(mine)
        self.stack.setCurrentIndex(1 if mine or self.session.run else 0)
        self._choose()
        self._show_story()

    def _mine(self) -> list[tuple[Run, Glance]]:
        """The runs without those that another page shows."""
        return [(run, glance) for run, glance in self.session.listed if page_of(run) == "curves"]

    def _choose(self) -> None:
        """The chosen run, or the newest where none was chosen."""
        newest = next((run for run, _ in self._mine()), None)
        run = self.session.run or newest
        if run is None or self.run is None or run.folder != self.run.folder:
            self._show_run(run)

    def _show_run(self, run: Run | None) -> None:
        self.run = run
        self._told_end = ""
        self.stack.setCurrentIndex(1 if run else 0)
        self.phase.begin()
        self.grid.steps.show_all()
        self.log.show_file(run.log if run else None)
        self.run_list.model.choose(run.name if run else "")
        self.run_list.show_chosen()
        self._watch_drawn()
        self._show_story()
        self.area.verticalScrollBar().setValue(0)

    def _watch_drawn(self) -> None:
        """A watcher for each drawn run, none for others."""
        drawn = self.run_list.drawn()
        if self.run and self.run.name not in [run.name for run, _ in drawn]:
            drawn.insert(0, (self.run, self.run_list.model.colors.get(self.run.name, 0)))
        for name in set(self.watchers) - {run.name for run, _ in drawn}:
            watcher = self.watchers.pop(name)
            watcher.close()
            watcher.deleteLater()
        for run, _ in drawn:
            if run.name not in self.watchers:
                self.watchers[run.name] = self._make_watcher(run)
        before = self._watch_before([run for run, _ in drawn])
        names = short_names([run for run, _ in drawn])
        pairs = zip(drawn, names, strict=True)
        self.grid.show_runs(
            [Shown(name, color, self.watchers[run.name], before[run.name]) for (run, color), name in pairs]
        )

    def _watch_before(self, drawn: list[Run]) -> dict[str, list[RunWatcher]]:
        """By name of a drawn run, watchers of the runs that it goes on from, the last one first."""
        chains = {run.name: runs_before(run) for run in drawn}
        wanted = {run.folder: run for chain in chains.values() for run in chain}
        for folder in set(self._before) - set(wanted):
            watcher = self._before.pop(folder)
            watcher.close()
            watcher.deleteLater()
        for folder, run in wanted.items():
            if folder not in self._before:
                self._before[folder] = self._make_watcher(run)
        return {name: [self._before[run.folder] for run in chain] for name, chain in chains.items()}

    def _make_watcher(self, run: Run) -> RunWatcher:
        watcher = RunWatcher(self)
        watcher.watch(run)
        watcher.events_arrived.connect(lambda _: self._arrived(watcher))
        watcher.loading.connect(lambda done, total: self._loading(watcher, done, total))
        watcher.state_changed.connect(lambda _: self._show_story())
        return watcher

    def _arrived(self, watcher: RunWatcher) -> None:
        """While an old run is read in, the picture may lag: drawing it takes time from the reading."""
        now = time.monotonic()
        if watcher.is_loaded or now - self._drew > LOADING_FRAME:
            self._drew = now
            self.grid.later()
        if watcher is self.watcher and watcher.story.ended and watcher.is_loaded:
            self._show_story()

    def _loading(self, watcher: RunWatcher, done: int, total: int) -> None:
        if watcher is self.watcher:
            self.phase.show_loading(done, total)
        if done >= total:
            self.grid.later()
            self._show_story()

    def _tick(self) -> None:
        """Figures and running times, a few times a second while there is something to see."""
        if self.isVisible() and self.watcher and not self._told_end:
            self._show_story()

    def _show_story(self) -> None:
        watcher = self.watcher
        if self.run is None or watcher is None:
            return
        story, glance = watcher.story, watcher.glance or self._listed_glance()
        self.figures.show_story(story, watcher.curves, recipe_of(self.run))
        self.phase.show_story(story, glance)
        self.stop.show_run(self.run, glance)
        self.export.show_run(self.run, glance)
        self.capture.show_run(self.run, glance)
        self.weights.show_run(self.run)
        self.add_line.show_findings(story.findings, has_points=bool(watcher.curves.series))
        self.attach.show_story(story, is_running=glance is not None and glance.state in ("running", "unattended"))
        is_over = watcher.is_loaded and glance is not None and glance.state in ("ended", "lost")
        self.rehearsal.show_run(self.run, is_over=is_over)
        if glance is None:
            return
        self.chip.show_state(f"{title_of(self.run)} · {state_name(glance)}", tone_of(glance))
        self._show_outcome(watcher, glance)
        self.sentence.setText(self._sentence(watcher, glance))
        self.notice.setText("\n".join(self._warnings(watcher)))
        self.notice.setVisible(bool(self.notice.text()))
        self.marks.show_marks(story.marks)
        self._show_charts(glance)

    def _show_charts(self, glance: Glance) -> None:
        """Without a point, a sentence says when the first one comes, or that none came. What gives an answer has no
        curves to wait for."""
        answers = self.run is not None and self.run.asked.command in self.answers
        has_points = any(watcher.curves.series for watcher in self.watchers.values()) and not answers
        works = glance.state in ("running", "unattended", "queued", "elsewhere")
        loads = self.watcher is not None and not self.watcher.is_loaded
        has_answer = any(not card.isHidden() for card in self.answers.values())
        silent = has_points or loads or has_answer or (answers and works)
        silent = silent or not self.add_line.isHidden() or not self.rehearsal.isHidden()
        self.nothing.setText("" if silent else t("curves.points_come" if works else "curves.no_points"))
        self.nothing.setVisible(not has_points)
        self.figures.setVisible(has_points or ((works or loads) and not answers))
        for widget in (self._tools, self.grid):
            widget.setVisible(has_points)
        self.phase.setVisible(has_points or works or loads)

    def _listed_glance(self) -> Glance | None:
        return next((glance for run, glance in self.session.listed if self.run and run.name == self.run.name), None)

    def _show_outcome(self, watcher: RunWatcher, glance: Glance) -> None:
        assert self.run is not None
        outcome, story = outcome_of(glance), watcher.story
        is_over = watcher.is_loaded and outcome in ("done", "no", "failed", "stopped", "lost")
        failed = is_over and outcome in ("failed", "lost")
        summary = story.summary if is_over else None
        for card, shown in ((self.reason, failed), (self.learned, bool(summary)), (self.times, bool(summary))):
            card.setVisible(shown)
        answer = self.answers.get(self.run.asked.command) if is_over and outcome in ANSWERED else None
        if not summary:
            self.beside.hide()
        for other in self.answers.values():
            if other is not answer:
                other.hide()
        told = f"{self.run.name} {outcome} {len(self.session.listed)}" if is_over else ""
        if told == self._told_end:
            return
        self._told_end = told
        if failed:
            self.reason.show_run(self.run, story, glance)
        if answer:
            answer.show_run(self.run)
        if summary:
            self.learned.show_story(story, summary)
            self.times.show_run(self.run, summary, self.session.listed)
            self.beside.show_run(self.run, self.session.listed)

    def _warnings(self, watcher: RunWatcher) -> list[str]:
        told = "" if self.add_line.isHidden() else NOTHING_SEEN
        findings = [one for one in watcher.story.findings if one.severity == "warning" and one.rule != told]
        sentences = list(dict.fromkeys(filter(None, map(sentence_of, findings))))
        if watcher.damaged:
            sentences.append(t("curves.damaged", n=watcher.damaged))
        attempts = watcher.curves.starts().items()
        sentences += [t("mark.attempt", n=attempt, step=step) for attempt, step in attempts if attempt > 1]
        return sentences[:3]

    def _sentence(self, watcher: RunWatcher, glance: Glance) -> str:
        story, outcome = watcher.story, outcome_of(glance)
        answer = self.answers.get(self.run.asked.command) if self.run else None
        if outcome == "running" and answer and story.phase != "check":
            key = "curves.sentence.answer"
        elif outcome == "running" and story.phase in PHASES:
            key = f"curves.sentence.{story.phase}"
        else:
            key = f"curves.sentence.{outcome}"
        if outcome == "done" and story.summary:
            return t("curves.joined", first=headline(story.summary), then=self.times.verdict).strip()
        if outcome in ANSWERED and answer and not answer.isHidden():
            return answer.verdict
        if self.run is not None and (said := self.rehearsal.sentence(self.run, outcome)):
            return said
        if outcome == "done" and not self.add_line.isHidden():
            return t("curves.add_line.sentence")
        step = max(0, story.steps_done)
        return t(key, recipe=recipe_name(self.run), step=step, total=story.total) if self.run and has(key) else ""

    def _show_runs_drawer(self, shown: bool) -> None:
        self._runs_button.setChecked(shown)
        self.run_list.setVisible(shown)
        self._runs_chosen = shown

    def open_folder(self, run: Run | None) -> None:
        if run:
            open_path(run.folder)

    def copy_path(self) -> None:
        if self.run:
            QApplication.clipboard().setText(str(self.run.folder))

    def retranslate(self) -> None:
        self._told_end = ""
        self._show_story()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Too narrow, the runs go behind their button; the user's choice holds until the width crosses the line."""
        super().resizeEvent(event)
        wide = self.width() >= ROOM_FOR_RUNS
        if wide != getattr(self, "_is_wide", None):
            self._is_wide = wide
            self._show_runs_drawer(wide)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start()
        self._show_story()
        self.grid.later()

    def hideEvent(self, event) -> None:
        super().hideEvent(event)
        self._timer.stop()
