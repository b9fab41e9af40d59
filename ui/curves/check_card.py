"""What a check predicted, and what it predicted beside what then came."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.launch.check import said
from backends.launch.check.answer import Refusal, answer_in, refusal_in
from backends.launch.check.beside import check_before, pairs
from studio.texts import t
from studio.units import duration, size
from ui.curves.answers import AnswerCard
from ui.curves.facts_table import FactsTable
from ui.curves.names import when
from ui.widgets import Card, Sentence, label

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.launch.check.answer import Answer
    from backends.launch.check.beside import Pair
    from backends.launch.check.largest import Largest, Point
    from studio.run import Glance, Run

WIDTH = 640
ROWS = {
    "step": "launch.check.row.step", "first": "launch.check.row.first", "total": "launch.check.row.total",
    "peak": "launch.check.row.peak", "disk": "launch.check.row.disk",
    "card_peak": "launch.check.row.card_peak",
}  # fmt: skip


class CheckCard(AnswerCard):
    """The answer of a check: its figures, and the micro batches that were run."""

    def __init__(self) -> None:
        super().__init__("launch.check.card")
        self.setObjectName("curves_check")
        self._hint = label(role="hint")
        self.header.addWidget(self._hint)
        self.table, self.points = FactsTable(), FactsTable()
        self.sentences = Sentence()
        for widget in (self.table, self.sentences, self.points):
            self.body.addWidget(widget)
            widget.setMaximumWidth(WIDTH)

    def show_run(self, run: Run) -> None:
        found = answer_in(run) or refusal_in(run)
        self.setVisible(found is not None)
        if found is None:
            return
        refused = isinstance(found, Refusal)
        self.verdict = t("launch.check.sentence_no" if refused else "launch.check.sentence")
        self.table.show_rows((), refused_rows(found) if isinstance(found, Refusal) else rows(found))
        self._hint.setText("" if isinstance(found, Refusal) else t("launch.check.estimate", count=found.measured))
        self.sentences.setText("" if isinstance(found, Refusal) else "\n".join(sentences(found)))
        self.sentences.setVisible(bool(self.sentences.text()))
        largest = None if isinstance(found, Refusal) else found.largest
        self.points.setVisible(largest is not None)
        if largest is not None:
            heads = (t("launch.check.head.batch"), t("launch.check.head.peak"))
            self.points.show_rows(heads, [point_row(point) for point in largest.points])


def refused_rows(found: Refusal) -> list[tuple[str, str]]:
    return [(t(ROWS["peak"]), t("launch.check.row.did_not_fit", limit=size(found.limit)))]


def rows(found: Answer) -> list[tuple[str, str]]:
    """Name and value of each figure, the values with their errors."""
    figures = [
        ("step", said.time(found.step)), ("first", said.time(found.first)), ("total", said.time(found.total)),
        ("peak", f"{said.memory(found.peak)} / {size(found.limit)}"),
        ("disk", f"{found.disk.kept} x {size(found.disk.one)} = {size(found.disk.all)}"),
    ]  # fmt: skip
    if found.card_peak is not None:
        figures.append(("card_peak", said.memory(found.card_peak)))
    return [(t(ROWS[name]), text) for name, text in figures] + largest_rows(found.largest)


def largest_rows(found: Largest | None) -> list[tuple[str, str]]:
    if found is None:
        return []
    ran = [(t("launch.check.row.largest"), str(found.ran))]
    estimate = said.estimated(found)
    return ran if estimate is None else [*ran, (t("launch.check.row.estimate"), estimate)]


def sentences(found: Answer) -> list[str]:
    """Warnings are the page's to show."""
    return [t(note.key, **note.args) for note in said.remarks(found)]


def point_row(point: Point) -> tuple[str, str]:
    peak = size(point.peak)
    return str(point.batch), peak if point.fits else t("launch.check.row.did_not_fit", limit=peak)


class BesideCard(Card):
    """A finished training beside the check that was made before it with the same choices."""

    def __init__(self) -> None:
        super().__init__("launch.check.beside")
        self.setObjectName("curves_beside")
        self._hint = label(role="hint")
        self.header.addWidget(self._hint)
        self.table = FactsTable()
        self.body.addWidget(self.table)

    def show_run(self, run: Run, listed: Iterable[tuple[Run, Glance]]) -> None:
        """Hidden where there is no such check, or the training measured nothing of it."""
        found = check_before((one for one, _ in listed), run)
        shown = pairs(found[1], run) if found else ()
        self.setVisible(bool(shown))
        if found is None or not shown:
            return
        self._hint.setText(t("launch.check.beside_hint", when=when(found[0])))
        heads = ("", *map(t, ("launch.check.head.predicted", "launch.check.head.measured", "launch.check.head.off")))
        self.table.show_rows(heads, [pair_row(pair) for pair in shown])


def pair_row(pair: Pair) -> tuple[str, ...]:
    is_time = pair.what in ("step", "first", "total")
    predicted = said.time(pair.predicted) if is_time else said.memory(pair.predicted)
    measured = duration(pair.measured) if is_time else size(pair.measured)
    return t(ROWS[pair.what]), predicted, measured, f"{round(pair.off, 1) + 0.0:+.1f} %"
