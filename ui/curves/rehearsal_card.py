"""What a rehearsal on the CPU showed: losses, what was redirected, what was blocked, and the operators that ran."""

from __future__ import annotations

from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from backends.common.card_memory import read_memory
from backends.common.operator_inventory import read_inventory
from backends.common.rehearsal import OPERATORS, read_report, uses_device
from studio.texts import t
from studio.units import count, number, size
from ui.curves.card_memory_view import CardMemoryView
from ui.curves.operators_view import OperatorsView
from ui.services.background import run_in_background
from ui.widgets.basic import (
    Card,
    Chip,
    Sentence,
    button,
    label,
    retone,
)
from ui.widgets.facts_table import FactsTable
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from pathlib import Path

    from backends.common.card_memory import MemoryReport
    from backends.common.operator_inventory import Inventory
    from backends.common.rehearsal import Blocked, Fallback, Report
    from studio.run import Run

    Results = tuple[Report | None, MemoryReport | None, Inventory | None]

COMMAND = "rehearse"
WIDTH = 560
MAX_LOSSES, MAX_ROWS = 5, 12
STANCES = {
    "cuda": "curves.rehearsal.as_cuda", "npu": "curves.rehearsal.as_npu", "cpu": "curves.rehearsal.as_cpu",
}  # fmt: skip
VIRTUAL_KEY = "curves.rehearsal.virtual_npu"
ENDS = {
    "steps": "curves.rehearsal.ended_steps", "time": "curves.rehearsal.ended_time",
    "memory": "curves.rehearsal.ended_memory", "script": "curves.rehearsal.ended_script",
}  # fmt: skip
SENTENCES = {
    "running": "curves.rehearsal.sentence_running", "unattended": "curves.rehearsal.sentence_running",
    "done": "curves.rehearsal.sentence_done", "no": "curves.rehearsal.sentence_no",
    "failed": "curves.rehearsal.sentence_failed",
}  # fmt: skip
KINDS = {
    "raised": "curves.rehearsal.kind_raised", "disabled": "curves.rehearsal.kind_disabled",
    "ignored": "curves.rehearsal.kind_ignored", "asked": "curves.rehearsal.kind_asked",
    "unknown": "curves.rehearsal.kind_unknown",
}  # fmt: skip


class RehearsalCard(Card):
    """Shown for a rehearsal that has ended, above its curves; hidden where its report is missing."""

    report_read = Signal()

    def __init__(self) -> None:
        super().__init__("curves.rehearsal.card")
        self.setObjectName("curves_rehearsal")
        self.stance = Chip()
        self.header.insertWidget(1, self.stance)
        self.header.addWidget(label("curves.rehearsal.hint", "hint"))
        self.ended, self.rest = Sentence(), Sentence()
        self.facts, self.redirections, self.blocked = FactsTable(), FactsTable(), Sentence()
        retone(self.blocked, "role", "")
        self._titles: dict[QWidget, QLabel] = {
            self.blocked: label("curves.rehearsal.blocked", "strong"),
            self.redirections: label("curves.rehearsal.redirected", "strong"),
        }
        for widget in (self.ended, self._titles[self.blocked], self.blocked):
            self.body.addWidget(widget)
        self._add_tables()
        self.memory_view, self.operators_view = CardMemoryView(), OperatorsView()
        for view in (self.memory_view, self.operators_view):
            view.setMaximumWidth(2 * WIDTH)
            # A column asks how high a view is at its own width, which is more than the view may have.
            row = QHBoxLayout()
            row.addWidget(view, WIDTH)
            row.addStretch(1)
            self.body.addLayout(row)
        self.body.addWidget(self.rest)
        self._add_button()
        self._run: Run | None = None
        self.report: Report | None = None
        self.memory: MemoryReport | None = None
        self.inventory: Inventory | None = None
        self.hide()

    def _add_tables(self) -> None:
        """Side by side, so that the curves are not far below."""
        tables = QWidget()
        tables.setMaximumWidth(2 * WIDTH)
        row = QHBoxLayout(tables)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(40)
        for widgets in ((self.facts,), (self._titles[self.redirections], self.redirections)):
            column = QVBoxLayout()
            column.setSpacing(8)
            for widget in widgets:
                column.addWidget(widget)
            column.addStretch(1)
            row.addLayout(column, 1)
        self.body.addWidget(tables)

    def _add_button(self) -> None:
        self.open_button = button("curves.rehearsal.open", "curves.rehearsal.open")
        self.open_button.clicked.connect(self._open)
        self._operators = QWidget()
        row = QHBoxLayout(self._operators)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        row.addWidget(self.open_button)
        row.addWidget(label("curves.rehearsal.open_hint", "hint"))
        row.addStretch(1)
        self.body.addWidget(self._operators)

    def show_run(self, run: Run | None, *, is_over: bool) -> None:
        """Called again and again while a run is looked at: its report is read once, when it has ended."""
        rehearsed = run if run is not None and is_over and run.request.command == COMMAND else None
        if rehearsed is None or self._run is None or rehearsed.folder != self._run.folder:
            self.report = None
            self.hide()
            if rehearsed is not None:
                run_in_background(self, partial(_read_all, rehearsed.folder), partial(self._read, rehearsed))
        self._run = rehearsed

    def _read(self, run: Run, results: Results) -> None:
        if self._run is not None and run.folder == self._run.folder:
            self.report, self.memory, self.inventory = results
            self.retranslate()
            self.report_read.emit()

    def retranslate(self) -> None:
        self.setVisible(self.report is not None)
        if self.report is not None and self._run is not None:
            self._show(self.report)
            self.memory_view.show_memory(self.memory)
            self.operators_view.show_inventory(self.inventory)
            has_operators = (self._run.folder / OPERATORS).is_file()
            self._operators.setVisible(has_operators and self.report.operators > 0)

    def sentence(self, run: Run, outcome: str) -> str:
        """What the page says of a rehearsal at its top: always that it is one. '' for other runs."""
        if run.request.command != COMMAND:
            return ""
        return t(SENTENCES.get(outcome, "curves.rehearsal.sentence_over"))

    def _show(self, report: Report) -> None:
        self.stance.show_state(t(STANCES[report.stance]), "bad" if report.answer is False else "accent")
        retone(self.ended, "role", "bad" if report.answer is False else "dim")
        self.ended.setText(end_text(report, self.memory))
        self.facts.show_rows((), facts(report))
        title_key = "curves.rehearsal.called" if report.is_virtual else "curves.rehearsal.redirected"
        localize(self._titles[self.redirections].setText, title_key)
        pairs = list(report.redirected.items())
        rows = [(name, count_text(times)) for name, times in pairs[:MAX_ROWS]]
        self.redirections.show_rows(("", t("curves.rehearsal.times")), rows)
        reviews = [*map(blocked_text, report.blocked), *map(fallback_text, report.fallbacks)]
        self.blocked.setText("\n".join(reviews[:MAX_ROWS]))
        for table, title in self._titles.items():
            is_filled = bool(pairs if table is self.redirections else reviews)
            table.setVisible(is_filled)
            title.setVisible(is_filled)
        more = max(0, len(pairs) - MAX_ROWS) + max(0, len(reviews) - MAX_ROWS)
        self.rest.setText(t("curves.rehearsal.more", count=more))
        self.rest.setVisible(more > 0)

    def _open(self) -> None:
        if self._run is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._run.folder / OPERATORS)))


def _read_all(folder: Path) -> Results:
    return read_report(folder), read_memory(folder), read_inventory(folder)


def end_text(report: Report, memory: MemoryReport | None = None) -> str:
    """How it ended; where the answer is no, whether the NPU was refused, left alone, or has too little memory."""
    if report.answer is not False:
        return t(ENDS.get(report.ended, ENDS["script"]), steps=report.steps)
    if memory is not None and memory.fit == "beyond":
        return t("curves.rehearsal.no_memory")
    is_left_alone = report.steps > 0 and not uses_device(report.redirected, report.device_operators)
    return t("curves.rehearsal.left_alone" if is_left_alone else "curves.rehearsal.no")


def facts(report: Report) -> list[tuple[str, str]]:
    rows = [
        (
            t("curves.rehearsal.losses"),
            losses_text(report.losses) if report.losses else t("curves.rehearsal.no_losses"),
        ),
        (t("curves.rehearsal.operators"), count_text(report.operators)),
        *device_facts(report),
    ]
    if report.processes > 1:
        rows.append((t("curves.rehearsal.processes"), str(report.processes)))
    return rows


def device_facts(report: Report) -> list[tuple[str, str]]:
    """What stood in for the NPU and how much it did, or how many uses of a device went to the CPU."""
    if not report.is_virtual:
        return [(t("curves.rehearsal.redirections"), count_text(sum(report.redirected.values())))]
    return [
        (t("curves.rehearsal.device"), t("curves.rehearsal.sizes_only" if report.is_fake else VIRTUAL_KEY)),
        (t("curves.rehearsal.device_operators"), count_text(report.device_operators)),
    ]


def losses_text(losses: tuple[float | str, ...]) -> str:
    """Return all losses where they are few, else the first ones and the last two."""
    texts = [number(loss) if isinstance(loss, float) else loss for loss in losses]
    return ", ".join(texts if len(texts) <= MAX_LOSSES else [*texts[: MAX_LOSSES - 2], "…", *texts[-2:]])


def count_text(value: int) -> str:
    return str(value) if value < 100 else count(value)


def blocked_text(blocked: Blocked) -> str:
    """Where, what came of it, and what a host with an NPU says there."""
    location = f"{PurePath(blocked.path).name}:{blocked.line}" if blocked.path else blocked.name
    return t(KINDS[blocked.kind], place=location, message=blocked.message or blocked.name)


def fallback_text(fallback: Fallback) -> str:
    """Where an operator is needed that a card leaves to the host, and what that would move."""
    key = "curves.rehearsal.falls_back" if fallback.kind == "fallback" else "curves.rehearsal.may_fall_back"
    place = f"{PurePath(fallback.path).name}:{fallback.line}"
    return t(key, place=place, operator=fallback.operator, moved=size(fallback.bytes_moved))
