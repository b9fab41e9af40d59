"""All that the page shows of the watched run below its head: cards, figures, charts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from backends.common.run_values import recipe_of
from studio import files
from studio import run as runs
from studio.run import ANSWERED, NONFINITE, outcome_of
from studio.sentences import EARLY_RULES, NONFINITE_RULES, early_sentence, nonfinite_sentence, sentence_of
from studio.texts import has, t
from ui.curves.answer_cards import AnswerCards
from ui.curves.chart_grid import ChartGrid, ChartTools
from ui.curves.copy_cards import RULE as NOTHING_SEEN
from ui.curves.copy_cards import AddLineCard, AttachCard
from ui.curves.figures import FigureRow
from ui.curves.marks_line import MarksLine
from ui.curves.outcome_cards import (
    LearnedCard,
    PredictionCard,
    ReasonCard,
    TimesCard,
    headline,
)
from ui.curves.phase_line import PhaseLine
from ui.curves.rehearsal_card import RehearsalCard
from ui.curves.weights_card import WeightsCard
from ui.services.run_titles import recipe_name
from ui.widgets.basic import GAP, Sentence

if TYPE_CHECKING:
    from backends.common.run_status import RunStatus
    from studio.run import Glance, Run
    from ui.curves.capture_card import CaptureCard
    from ui.curves.worker_card import WorkerCard
    from ui.services.watcher import RunWatcher

SCROLL_BAR = 14
OUTCOMES = (*ANSWERED, "nonfinite", "failed", "stopped", "lost", "gone")
WORKING = ("running", "unattended", "queued", "elsewhere")
PHASES = ("load", "attach", "check", "compile", "train", "evaluate", "finish")
MAX_WARNINGS = 3


@dataclass(frozen=True, kw_only=True)
class WatchedRun:
    """The run at the front as far as it was read. `listed`: the runs beside it; `has_points`: whether any drawn run
    has a point to draw."""

    run: Run
    watcher: RunWatcher
    glance: Glance
    listed: list[tuple[Run, Glance]]
    has_points: bool

    @property
    def status(self) -> RunStatus:
        return self.watcher.status

    @property
    def outcome(self) -> str:
        return outcome_of(self.glance)

    @property
    def is_over(self) -> bool:
        return self.watcher.is_loaded and self.outcome in OUTCOMES


class RunContent(QScrollArea):
    def __init__(self, capture: CaptureCard, worker: WorkerCard) -> None:
        super().__init__()
        self._visible_end = ""
        self.figures, self.phase, self.grid = FigureRow(), PhaseLine(), ChartGrid()
        self.reason, self.learned, self.times = ReasonCard(), LearnedCard(), TimesCard()
        self.answers, self.prediction, self.weights = AnswerCards(), PredictionCard(), WeightsCard()
        self.attach, self.add_line, self.rehearsal = AttachCard(), AddLineCard(), RehearsalCard()
        self.notice = Sentence()
        self.notice.setObjectName("curves_notice")
        self.notice.setProperty("role", "warning")
        self.marks, self.tools = MarksLine(), ChartTools(self.grid)
        self.phase.row.addWidget(self.tools)
        self.nothing = Sentence()
        self.nothing.setObjectName("curves.no_points")
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.worker = worker
        self._lay_out(capture)

    def _lay_out(self, capture: CaptureCard) -> None:
        content = QWidget()
        content.setProperty("role", "clear")
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        summary = QHBoxLayout()
        summary.setSpacing(GAP)
        summary.addWidget(self.learned, 1)
        summary.addWidget(self.times, 1)
        cards = (self.worker, self.reason, self.attach, capture, self.add_line, self.rehearsal, self.answers)
        for widget in (*cards, self.figures, self.notice, self.phase, self.marks):
            column.addWidget(widget)
        column.addWidget(self.nothing, 1)
        column.addWidget(self.grid, 1)
        column.addLayout(summary)
        column.addWidget(self.prediction)
        column.addWidget(self.weights)
        self.setWidgetResizable(True)
        self.setWidget(content)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        bar = self.verticalScrollBar()
        bar.valueChanged.connect(self.grid.draw_soon)
        # The scroll bar lies in the right margin, so that cards keep their width when it appears.
        bar.rangeChanged.connect(lambda _, high: column.setContentsMargins(0, 0, 2 if high else SCROLL_BAR, 0))

    def begin(self) -> None:
        """Another run is watched from now on."""
        self.forget_end()
        self.phase.begin()
        self.grid.steps.show_all()

    def forget_end(self) -> None:
        """Show the end of the run once more, as in another language."""
        self._visible_end = ""

    @property
    def is_end_visible(self) -> bool:
        """Whether the run is over and all of it is shown."""
        return bool(self._visible_end)

    def show_progress(self, run: Run, watcher: RunWatcher, glance: Glance | None) -> None:
        """What can be shown before the state of the run is known."""
        status, state = watcher.status, glance.state if glance else ""
        self.figures.show_status(status, watcher.curves, recipe_of(run))
        self.phase.show_status(status, glance)
        self.weights.show_run(run)
        self.worker.show_run(run, glance)
        self.add_line.show_findings(status.findings, has_points=bool(watcher.curves.series))
        self.attach.show_status(status, is_running=state in ("running", "unattended"))
        self.rehearsal.show_run(run, is_over=watcher.is_loaded and state in runs.OVER)

    def show_run(self, watched: WatchedRun) -> None:
        self._show_outcome(watched)
        self.notice.setText("\n".join(self._warnings(watched.watcher)))
        self.notice.setVisible(bool(self.notice.text()))
        self.marks.show_marks(watched.status.marks)
        self._show_charts(watched)

    def _show_charts(self, watched: WatchedRun) -> None:
        """Without a point, a sentence says when the first one comes, or that none came. What gives an answer has no
        curves to wait for."""
        gives_answer = self.answers.card(watched.run.request.command) is not None
        has_points = watched.has_points and not gives_answer
        works, loads = watched.glance.state in WORKING, not watched.watcher.is_loaded
        is_silent = has_points or loads or self.answers.has_answer or (gives_answer and works)
        is_silent = is_silent or not self.add_line.isHidden() or not self.rehearsal.isHidden()
        self.nothing.setText("" if is_silent else t("curves.points_come" if works else "curves.no_points"))
        self.nothing.setVisible(not has_points)
        self.figures.setVisible(has_points or ((works or loads) and not gives_answer))
        for widget in (self.tools, self.grid):
            widget.setVisible(has_points)
        self.phase.setVisible(has_points or works or loads)

    def _show_outcome(self, watched: WatchedRun) -> None:
        """The cards of a run that is over; they are filled once, as reading what they show takes a moment."""
        run, status = watched.run, watched.status
        failed = watched.is_over and watched.outcome in ("failed", "lost")
        summary = status.summary if watched.is_over else None
        for card, is_visible in ((self.reason, failed), (self.learned, bool(summary)), (self.times, bool(summary))):
            card.setVisible(is_visible)
        if not summary:
            self.prediction.hide()
        has_answer = watched.is_over and watched.outcome in ANSWERED
        answer = self.answers.card(run.request.command) if has_answer else None
        self.answers.show_only(answer)
        end = f"{run.name} {watched.outcome} {len(watched.listed)}" if watched.is_over else ""
        if end == self._visible_end:
            return
        self._visible_end = end
        if failed:
            self.reason.show_run(run, status, watched.glance)
        if answer:
            self.answers.show_answer(answer, run)
        if summary:
            self.learned.show_status(status, summary)
            self.times.show_run(run, summary, watched.listed)
            self.prediction.show_run(run, watched.listed)

    def _warnings(self, watcher: RunWatcher) -> list[str]:
        """Sentences about what went wrong without ending the run; what a card explains is left to the card."""
        explained = "" if self.add_line.isHidden() else NOTHING_SEEN
        outcome = outcome_of(watcher.glance) if watcher.glance is not None else ""
        # The sentence below the title tells them.
        of_end = {NONFINITE: NONFINITE_RULES, "incomplete": EARLY_RULES}.get(outcome, ())
        findings = [
            finding
            for finding in watcher.status.findings
            if finding.severity == "warning" and finding.rule not in (explained, *of_end)
        ]
        sentences = list(dict.fromkeys(filter(None, map(sentence_of, findings))))
        if not watcher.status.ended:  # after its end the sentence below the title tells what is missing
            sentences[:0] = [*_disk_warning(watcher), *watcher.status.lost.sentences()]
        if watcher.damaged:
            sentences.append(t("curves.damaged", n=watcher.damaged))
        attempts = watcher.curves.starts().items()
        sentences += [t("mark.attempt", n=attempt, step=step) for attempt, step in attempts if attempt > 1]
        return sentences[:MAX_WARNINGS]

    def sentence(self, watched: WatchedRun) -> str:
        """The sentence below the title: what the run does, or what came of it and what is missing in its record."""
        sentence = self._sentence(watched)
        for missing in watched.status.lost.sentences() if watched.status.ended else ():
            sentence = t("curves.joined", first=sentence, then=missing).strip()
        return sentence

    def _sentence(self, watched: WatchedRun) -> str:
        run, status, outcome = watched.run, watched.status, watched.outcome
        answer = self.answers.card(run.request.command)
        if outcome == "done" and status.summary:
            return t("curves.joined", first=headline(status.summary), then=self.times.verdict).strip()
        if outcome in ANSWERED and answer and not answer.isHidden():
            return answer.verdict
        if outcome == NONFINITE:
            return nonfinite_sentence(status.findings)
        if outcome == "incomplete" and (early := early_sentence(status.findings)):
            return early
        if rehearsed := self.rehearsal.sentence(run, outcome):
            return rehearsed
        if outcome == "done" and not self.add_line.isHidden():
            return t("curves.add_line.sentence")
        if outcome == "done" and status.covered:
            return t("curves.joined", first=sentence_of(status.covered), then=t("curves.sentence.done_compare")).strip()
        if outcome == "running" and answer and status.phase != "check":
            key = "curves.sentence.answer"
        elif outcome == "running" and status.phase in PHASES:
            key = f"curves.sentence.{status.phase}"
        else:
            key = f"curves.sentence.{outcome}"
        step = max(0, status.steps_done)
        return t(key, recipe=recipe_name(run), step=step, total=status.total) if has(key) else ""


def _disk_warning(watcher: RunWatcher) -> list[str]:
    """Return why a run stands still, or does not come to its end, on a full disk."""
    is_working = watcher.glance is not None and watcher.glance.state in WORKING
    if watcher.run is None or not is_working or not files.is_disk_full(watcher.run.folder):
        return []
    return [t("run.disk_full_now", path=str(watcher.run.folder))]
