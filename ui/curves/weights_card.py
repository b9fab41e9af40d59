"""What a training took from the weights that it was given: a table of names, those that did not match first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from backends.common.run_values import text_value
from backends.launch.start_weights import table_in
from studio.texts import t
from ui.widgets.basic import Card, Sentence, label
from ui.widgets.facts_table import FactsTable

if TYPE_CHECKING:
    from backends.launch.start_weights import Row, Table
    from studio.run import Run

MAX_ROWS = 12
HEADS = (
    "launch.weights_table.name", "launch.weights_table.status", "launch.weights_table.here",
    "launch.weights_table.there",
)  # fmt: skip
STATUS = {
    "matched": "launch.weights_table.matched", "missing": "launch.weights_table.missing",
    "other_shape": "launch.weights_table.other_shape", "left_over": "launch.weights_table.left_over",
}  # fmt: skip


class WeightsCard(Card):
    """Shown for a run that was given weights, as soon as its training has matched them."""

    def __init__(self) -> None:
        super().__init__("launch.weights_table.card")
        self.setObjectName("curves_weights")
        self._file = label(role="hint")
        self.header.addWidget(self._file)
        self._counts, self._more = Sentence(), Sentence()
        self.table = FactsTable()
        for widget in (self._counts, self.table, self._more):
            self.body.addWidget(widget)
        self._run = ""
        self._table: Table | None = None
        self.hide()

    def show_run(self, run: Run) -> None:
        """Called again and again while a run is looked at: its table is read until it is there, then kept."""
        if run.name != self._run:
            self._run, self._table = run.name, None
        elif self._table is not None:
            return
        if text_value(run, "what", "weights"):
            self._table = table_in(run)
        self.setVisible(self._table is not None)
        self.retranslate()

    def retranslate(self) -> None:
        if self._table is None:
            return
        rows = self._table.worth_seeing()
        self._file.setText(Path(self._table.file).name)
        self._counts.setText(t("launch.weights_table.counts", **self._table.counts()))
        self.table.show_rows(tuple(map(t, HEADS)), [_cells(row) for row in rows[:MAX_ROWS]])
        self._more.setText(t("launch.weights_table.more", count=len(rows) - MAX_ROWS))
        self._more.setVisible(len(rows) > MAX_ROWS)


def _cells(row: Row) -> tuple[str, ...]:
    return row.name, t(STATUS[row.status]), _shape(row.here), _shape(row.there)


def _shape(shape: tuple[int, ...] | None) -> str:
    return "–" if shape is None else " × ".join(map(str, shape)) or "1"
