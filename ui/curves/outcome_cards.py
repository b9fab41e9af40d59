"""What came out of a run: why it failed, what it learned, where its time went, how well a check predicted it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal

from backends.common.run_values import EAGER, mode_of
from backends.common.summary import summary_of
from backends.curves.related_runs import run_in_other_mode
from backends.launch.check import messages
from backends.launch.check.predictions import check_before, prediction_pairs
from studio.sentences import sentence_of
from studio.texts import t
from studio.units import count, duration, size
from ui.curves.figures import line_text
from ui.services.run_titles import MODES, recipe_name, when
from ui.widgets.basic import (
    Card,
    Sentence,
    label,
    text_button,
)
from ui.widgets.facts_table import FactsTable
from ui.widgets.icons import show_icon
from ui.widgets.log_excerpt import LogExcerpt
from ui.widgets.log_lines import log_end
from ui.widgets.metric_format import title_of as metric_title
from ui.widgets.metric_format import value_of
from ui.widgets.theme import mono_font

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtWidgets import QLabel, QPushButton

    from backends.common.run_status import RunStatus
    from backends.common.summary import Summary
    from backends.launch.check.predictions import Pair
    from studio.events import Finding
    from studio.run import Glance, Run

LAST_LINES = 15

OTHER_MODES = {
    "jit": "PyNative", "graph": "PyNative", "pynative": "@jit", "eager": "torch.compile", "compile": "PyTorch",
}  # fmt: skip
"""What a mode is held beside."""


class ReasonCard(Card):
    """Why a run failed or was lost: the cause, what to do, the lines that say it; the last lines folded under them."""

    log_requested = Signal()

    def __init__(self) -> None:
        super().__init__("curves.reason")
        self.setObjectName("curves.reason")
        self._sentence, self._more, self._hint, self._first = Sentence(), Sentence(), Sentence(), Sentence()
        self._sentence.setProperty("role", "strong")
        self._more.setObjectName("error_card_more")
        self._hint.setProperty("role", "")
        self._hint.setObjectName("error_card_fix")
        self._first.setProperty("role", "warning")
        self._first.setObjectName("error_card_first")
        self._proof_title = label(role="hint")
        self._proof = LogExcerpt()
        self._proof.setObjectName("error_card_said")
        self._fold = text_button("curves.last_lines", "curves.last_lines")
        self._lines = LogExcerpt()
        self._fold.clicked.connect(lambda: self._open(not self._lines.isVisible()))
        for widget in (self._sentence, self._first, self._more, self._hint, self._proof_title, self._proof):
            self.body.addWidget(widget)
        self.body.addWidget(self._fold, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addWidget(self._lines)
        whole = text_button("curves.whole_log", "curves.whole_log")
        whole.clicked.connect(self.log_requested)
        self.header.addWidget(whole)
        self._open(False)

    def add_action(self, action: QPushButton) -> None:
        """Add what can be done about it, below the sentences."""
        self.body.insertWidget(self.body.indexOf(self._proof_title), action, 0, Qt.AlignmentFlag.AlignLeft)

    def _open(self, opened: bool) -> None:
        self._lines.setVisible(opened and bool(self._lines.text()))
        show_icon(self._fold, "chevron-down" if opened else "chevron-right", "accent", 16)

    def show_run(self, run: Run, story: RunStatus, glance: Glance) -> None:
        """Reads the end of the log once: a failed run writes no more."""
        causes = list(dict.fromkeys(filter(None, map(sentence_of, story.reasons()))))
        fix = story.last_finding("explain.", ".fix")
        _show_text(self._sentence, causes[0] if causes else unknown_reason(glance))
        _show_text(self._more, "\n".join(causes[1:]))
        _show_text(self._first, sentence_of(story.last_finding("explain.first_rank")))
        _show_text(self._hint, sentence_of(fix) or ("" if causes else t("curves.what_to_do")))
        self._show_lines(fix)
        lines = [line for line in log_end(run.log) if line.strip()]
        self._lines.setText("\n".join(lines[-LAST_LINES:]))
        self._fold.setVisible(bool(self._lines.text()))
        self._open(self._lines.isVisible() or not causes)

    def _show_lines(self, fix: Finding | None) -> None:
        lines = numbered(fix.args.get("said")) if fix else ""
        _show_text(self._proof, lines)
        _show_text(self._proof_title, t("error_card.says", log=fix.path) if fix and lines else "")


def _show_text(target: QLabel | LogExcerpt, text: str) -> None:
    target.setText(text)
    target.setVisible(bool(text))


def numbered(lines: object) -> str:
    """Lines of a log behind their numbers. Read from the run's events: of any version, or damaged."""
    pairs = [pair for pair in lines if isinstance(pair, list) and len(pair) == 2] if isinstance(lines, list) else []
    width = max((len(str(number)) for number, _ in pairs), default=0)
    return "\n".join(f"{number:>{width}}  {text}" for number, text in pairs if isinstance(number, int))


def unknown_reason(glance: Glance) -> str:
    if glance.state == "lost" or glance.reason == "lost":
        return t("curves.lost")
    code = glance.code or 0
    if code > 128:
        return t("curves.failed_signal", signal=code - 128)
    return t("curves.failed_code", code=code)


class LearnedCard(Card):
    """What was learned, for each recipe in its own terms."""

    def __init__(self) -> None:
        super().__init__("curves.learned")
        self.setObjectName("curves.learned")
        self._sentence = Sentence()
        self._sentence.setProperty("role", "")
        self._table = FactsTable()
        self._sample_title = label("curves.sample", "dim")
        self._sample = Sentence()
        self._sample.setProperty("role", "")
        self._sample.setFont(mono_font(12))
        for widget in (self._sentence, self._table, self._sample_title, self._sample):
            self.body.addWidget(widget)
        self.body.addStretch(1)

    def show_status(self, story: RunStatus, summary: Summary) -> None:
        self._sentence.setText(learned_sentence(summary))
        self._sentence.setVisible(bool(self._sentence.text()))
        learned = summary.learned()
        heads: tuple[str, ...] = ()
        rows: list[tuple[str, ...]]
        if learned:
            heads = ("", t("curves.head.learned"), t("curves.head.true"), t("curves.head.off"))
            rows = [_learned_row(*entry) for entry in learned]
        else:
            rows = [(metric_title(name), value_of(name, value)) for name, value in summary.metrics.items()]
        self._table.show_rows(heads, rows)
        for widget in (self._sample_title, self._sample):
            widget.setVisible(bool(story.sample))
        self._sample.setText(story.sample)


def _learned_row(name: str, value: float, true: float) -> tuple[str, ...]:
    return metric_title(name), f"{value:.4f}", f"{true:g}", f"{value - true:+.4f}"


def headline(summary: Summary) -> str:
    """What was learned, in one sentence without a table under it."""
    learned = {name: value for name, value, _ in summary.learned()}
    if {"weight", "bias"} <= learned.keys():
        return t("curves.found_line", line=line_text(learned["weight"], learned["bias"]))
    return learned_sentence(summary)


def learned_sentence(summary: Summary) -> str:
    if summary.learned():
        return t("curves.learned_line")
    if "accuracy" in summary.metrics:
        accuracy = value_of("accuracy", summary.metrics["accuracy"])
        of_digits = summary.recipe in ("", "digits")
        return t("curves.learned_accuracy" if of_digits else "curves.learned_accuracy_of", accuracy=accuracy)
    if "eval_loss" in summary.metrics and summary.recipe in ("", "text"):
        loss = summary.metrics["eval_loss"]
        choices = math.exp(min(loss, 50.0)) if math.isfinite(loss) else math.nan
        text = f"{choices:.0f}" if choices >= 10 else f"{choices:.1f}"
        return t("curves.learned_text", loss=value_of("eval_loss", loss), choices=text)
    return ""


class TimesCard(Card):
    """Time split into compile and train, beside the last run of the same recipe in the other mode."""

    launch_requested = Signal()

    def __init__(self) -> None:
        super().__init__("curves.times")
        self.setObjectName("curves.times")
        self.header.addWidget(label("curves.dynamic_static", "hint"))
        self._sentence = Sentence()
        self._sentence.setProperty("role", "")
        self._table = FactsTable()
        self._start = text_button("curves.start_other", "curves.start_other")
        self._start.clicked.connect(self.launch_requested)
        self.body.addWidget(self._sentence)
        self.body.addWidget(self._table)
        self.body.addWidget(self._start, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addStretch(1)
        self._other_summary: tuple[str, Summary | None] = ("", None)
        self.verdict = ""

    def show_run(self, run: Run, summary: Summary, listed: list[tuple[Run, Glance]]) -> None:
        other = run_in_other_mode(run, listed)
        other_summary = self._summary_of(other) if other else None
        columns = [(_mode(summary, run), summary)]
        if other and other_summary:
            columns.append((f"{_mode(other_summary, other)} · {when(other)}", other_summary))
        heads = ("", *(head for head, _ in columns))
        self._table.show_rows(heads, _rows([summary for _, summary in columns]))
        self._start.setVisible(other_summary is None and mode_of(run) in MODES)
        self.verdict = verdict(run, summary, other_summary)
        self._sentence.setText(self.verdict)
        self._sentence.setVisible(bool(self.verdict))

    def _summary_of(self, other: Run) -> Summary | None:
        """A finished run does not change: read once."""
        if self._other_summary[0] != other.name:
            self._other_summary = (other.name, summary_of(other.folder))
        return self._other_summary[1]


def _mode(summary: Summary, run: Run) -> str:
    return MODES.get(summary.mode or mode_of(run), summary.mode)


def _rows(columns: list[Summary]) -> list[tuple[str, ...]]:
    rows = [
        (t("curves.row.compile"), *(duration(s.compile_seconds) if s.compile_seconds else "–" for s in columns)),
        (t("curves.row.train"), *(duration(s.train_seconds) for s in columns)),
        (t("curves.row.step"), *(duration(s.step_seconds) for s in columns)),
        (t("curves.row.speed"), *(count(s.samples_per_second) for s in columns)),
    ]
    metrics = [name for name in ("accuracy", "eval_loss", "loss") if any(name in s.metrics for s in columns)]
    for name in metrics[:1]:
        values = (value_of(name, s.metrics[name]) if name in s.metrics else "–" for s in columns)
        rows.append((metric_title(name), *values))
    return rows


def verdict(run: Run, summary: Summary, other_summary: Summary | None) -> str:
    """What follows from the figures of both modes; without the other mode, what is missing."""
    if other_summary is None:
        other = OTHER_MODES.get(mode_of(run))
        return t("curves.no_other", recipe=recipe_name(run), mode=other) if other else ""
    compiled, eager = (other_summary, summary) if mode_of(run) in EAGER else (summary, other_summary)
    static, dynamic = compiled.step_seconds, eager.step_seconds
    mode = MODES.get(compiled.mode, compiled.mode)
    if static <= 0 or dynamic <= 0:
        return ""
    if static >= dynamic:
        return t("curves.jit_slower", mode=mode, times=f"{static / dynamic:.1f}")
    steps = math.ceil(compiled.compile_seconds / (dynamic - static))
    return t("curves.jit_faster", mode=mode, times=f"{dynamic / static:.1f}", steps=steps)


HEADS = ("launch.check.head.predicted", "launch.check.head.measured", "launch.check.head.off")


class PredictionCard(Card):
    """Hidden where no check of the same choices came before, or the training measured nothing of it."""

    def __init__(self) -> None:
        super().__init__("launch.check.beside")
        self.setObjectName("curves_beside")
        self._hint = label(role="hint")
        self.header.addWidget(self._hint)
        self.table = FactsTable()
        self.body.addWidget(self.table)

    def show_run(self, run: Run, listed: Iterable[tuple[Run, Glance]]) -> None:
        check = check_before((other for other, _ in listed), run)
        measured = prediction_pairs(check[1], run) if check else ()
        self.setVisible(bool(measured))
        if check is None or not measured:
            return
        self._hint.setText(t("launch.check.beside_hint", when=when(check[0])))
        self.table.show_rows(("", *map(t, HEADS)), [pair_row(pair) for pair in measured])


def pair_row(pair: Pair) -> tuple[str, ...]:
    is_time = pair.what in ("step", "first", "total")
    predicted = messages.time_text(pair.predicted) if is_time else messages.memory_text(pair.predicted)
    measured = duration(pair.measured) if is_time else size(pair.measured)
    return t(messages.FIGURE_KEYS[pair.what]), predicted, measured, f"{round(pair.off, 1) + 0.0:+.1f} %"
