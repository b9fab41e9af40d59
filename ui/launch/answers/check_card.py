"""What a check predicted: its figures, and the micro batches that were run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.launch.check import messages
from backends.launch.check.answer import Refusal, answer_in, refusal_in
from studio.texts import t
from studio.units import size
from ui.widgets.answer_card import AnswerCard
from ui.widgets.basic import Sentence, label
from ui.widgets.facts_table import FactsTable

if TYPE_CHECKING:
    from backends.launch.check.answer import Answer
    from backends.launch.check.largest import Largest, Point
    from studio.run import Run

WIDTH = 640


class CheckCard(AnswerCard):
    """The answer of a check: its figures, and the micro batches that were run."""

    def __init__(self) -> None:
        super().__init__("launch.check.card")
        self.setObjectName("curves_check")
        self._hint = label(role="hint")
        self.header.addWidget(self._hint)
        self.table, self.points = FactsTable(), FactsTable()
        self.remark_sentences = Sentence()
        for widget in (self.table, self.remark_sentences, self.points):
            self.body.addWidget(widget)
            widget.setMaximumWidth(WIDTH)

    def show_run(self, run: Run) -> None:
        answer = answer_in(run) or refusal_in(run)
        self.setVisible(answer is not None)
        if answer is None:
            return
        refused = isinstance(answer, Refusal)
        self.verdict = t("launch.check.sentence_no" if refused else "launch.check.sentence")
        self.table.show_rows((), refused_rows(answer) if isinstance(answer, Refusal) else answer_rows(answer))
        self._hint.setText("" if isinstance(answer, Refusal) else t("launch.check.estimate", count=answer.measured))
        self.remark_sentences.setText("" if isinstance(answer, Refusal) else "\n".join(sentences(answer)))
        self.remark_sentences.setVisible(bool(self.remark_sentences.text()))
        largest = None if isinstance(answer, Refusal) else answer.largest
        self.points.setVisible(largest is not None)
        if largest is not None:
            heads = (t("launch.check.head.batch"), t("launch.check.head.peak"))
            self.points.show_rows(heads, [point_row(point) for point in largest.points])


def refused_rows(answer: Refusal) -> list[tuple[str, str]]:
    return [(t(messages.FIGURE_KEYS["peak"]), t("launch.check.row.did_not_fit", limit=size(answer.limit)))]


def answer_rows(answer: Answer) -> list[tuple[str, str]]:
    """Name and value of each figure, the values with their errors."""
    kept = messages.with_error(size(answer.disk.all), size(answer.disk.error))
    figures = [
        ("step", messages.time_text(answer.step)), ("first", messages.time_text(answer.first)),
        ("total", messages.time_text(answer.total)),
        ("peak", f"{messages.memory_text(answer.peak)} / {size(answer.limit)}"),
        ("disk", f"{answer.disk.kept} x {size(answer.disk.one)} = {kept}"),
    ]  # fmt: skip
    if answer.card_peak is not None:
        figures.append(("card_peak", messages.memory_text(answer.card_peak)))
    return [(t(messages.FIGURE_KEYS[name]), text) for name, text in figures] + largest_rows(answer.largest)


def largest_rows(answer: Largest | None) -> list[tuple[str, str]]:
    if answer is None:
        return []
    ran = [(t("launch.check.row.largest"), str(answer.ran))]
    estimate = messages.estimated(answer)
    return ran if estimate is None else [*ran, (t("launch.check.row.estimate"), estimate)]


def sentences(answer: Answer) -> list[str]:
    """Warnings are the page's to show."""
    return [t(note.key, **note.args) for note in messages.remarks(answer)]


def point_row(point: Point) -> tuple[str, str]:
    peak = size(point.peak)
    return str(point.batch), peak if point.fits else t("launch.check.row.did_not_fit", limit=peak)
