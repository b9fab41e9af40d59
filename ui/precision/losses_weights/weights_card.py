"""The comparison of two checkpoints, tensor by tensor."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout

from backends.precision.weights.sentences import weights_notes
from backends.precision.weights.spec import WeightsSpec
from studio import schema
from studio.sentences import sentence_of
from studio.texts import t
from studio.units import number
from ui.precision.path_choice import PathChoice
from ui.precision.spec_boxes import SpecBoxes
from ui.widgets.basic import (
    Card,
    Chip,
    Sentence,
    button,
)
from ui.widgets.cell_table import (
    Cell,
    TableModel,
    fit_height,
    table_view,
)
from ui.widgets.localized import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.precision.weights.result import WeightRow, Weights, WeightState, WeightsVerdict
    from studio.run import Run
    from ui.widgets.basic import Tone

ROWS = (("allow_weights", "torch_python"),)
HEADS = (
    "precision.more.tensor", "precision.more.state", "precision.more.dtype", "precision.more.shape",
    "precision.more.l2_rel", "precision.more.max_abs", "precision.more.cosine", "precision.more.ulp",
)  # fmt: skip
NUMBERS = frozenset({4, 5, 6, 7})
STATES: dict[WeightState, tuple[str, str]] = {
    "equal": ("precision.more.equal", "good"), "close": ("precision.more.close", "dim"),
    "differs": ("precision.more.differs", "bad"),
}  # fmt: skip
VERDICTS: dict[WeightsVerdict, tuple[str, Tone]] = {
    "equal": ("precision.more.weights_pass", "good"), "close": ("precision.more.weights_close", "good"),
    "dtypes": ("precision.more.weights_dtypes", "warning"), "differs": ("precision.more.weights_fail", "bad"),
    "incomplete": ("precision.more.weights_incomplete", "warning"),
}  # fmt: skip
SIGNS: dict[WeightState, str] = {"equal": "✓", "close": "≈", "differs": "✗"}
ORDER: tuple[WeightState, ...] = ("differs", "close", "equal")
MISSING, EXTRA = "precision.more.missing", "precision.more.extra"
GUTTER = 28
HEIGHT = 340


class WeightsCard(Card):
    """`start_requested` carries a command and its spec."""

    start_requested = Signal(str, object)

    def __init__(self) -> None:
        super().__init__("precision.more.weights")
        self.setObjectName("precision_weights")
        self.weights: Weights | None = None
        self.chip = Chip()
        self.header.insertWidget(1, self.chip)
        self.target = PathChoice("precision_weights_target", "precision.start.target")
        self.golden = PathChoice("precision_weights_golden", "precision.start.golden")
        sides = QHBoxLayout()
        sides.setSpacing(GUTTER)
        for side in (self.target, self.golden):
            side.chosen.connect(self._update_start)
            sides.addWidget(side, 1)
        self.boxes = SpecBoxes(WeightsSpec(), "precision", ROWS)
        self.boxes.edited.connect(self._update_start)
        self.start = button("precision.more.compare_weights", "precision_compare_weights")
        self.start.clicked.connect(self._request_start)
        self.sentence = Sentence()
        self.rows = TableModel(HEADS, NUMBERS)
        self._table = table_view(self.rows, "precision_weights_table", "precision.more.weights", 0)
        last = QHBoxLayout()
        last.addStretch(1)
        last.addWidget(self.start)
        self.body.addWidget(Sentence("precision.more.weights_text"))
        self.body.addLayout(sides)
        self.body.addWidget(self.boxes)
        self.body.addLayout(last)
        self.body.addWidget(self.sentence)
        self.body.addWidget(self._table)
        self._update_start()
        self.show_result(None)

    def show_choices(self, choices: Sequence[tuple[str, Path]]) -> None:
        for side in (self.target, self.golden):
            side.show_choices(choices)

    def clear(self) -> None:
        for side in (self.target, self.golden):
            side.show_path(None)
        self.show_result(None)
        self._update_start()

    def _spec(self) -> Any:
        spec: Any = self.boxes.spec
        for name, side in (("target_weights", self.target), ("golden_weights", self.golden)):
            spec = schema.with_value(spec, name, side.path or Path())
        return spec

    def _update_start(self) -> None:
        self.start.setEnabled(not schema.problems(self._spec()) and not self.boxes.unreadable)

    def _request_start(self) -> None:
        self.start_requested.emit("compare-weights", self._spec())

    def show_answer(self, run: Run, weights: Weights | None) -> None:
        checkpoints = schema.from_json(WeightsSpec, run.request.values)[0].checkpoints
        for side, path in ((self.target, checkpoints.target_weights), (self.golden, checkpoints.golden_weights)):
            side.show_path(side.path or path)
        self._update_start()
        self.show_result(weights)

    def show_result(self, weights: Weights | None) -> None:
        self.weights = weights
        self.retranslate()

    def retranslate(self) -> None:
        weights = self.weights
        for widget in (self.chip, self.sentence, self._table):
            widget.setVisible(weights is not None)
        if weights is None:
            return
        key, tone = VERDICTS[weights.verdict()]
        self.chip.show_state(t(key), tone)
        self.sentence.setText(weights_sentence(weights))
        unpaired = [(name, MISSING) for name in weights.missing] + [(name, EXTRA) for name in weights.extra]
        rows = sorted(weights.rows, key=lambda row: ORDER.index(row.state))
        self.rows.show_rows([*(_unpaired_cells(name, key) for name, key in unpaired), *(_cells(row) for row in rows)])
        fit_height(self._table, HEIGHT)


def weights_sentence(weights: Weights) -> str:
    """Return the verdict, the first tensor that differs, and what was compared."""
    return joined([sentence_of(note) for note in weights_notes(weights)])


def _unpaired_cells(name: str, key: str) -> tuple[Cell, ...]:
    empty = tuple(Cell(text="") for _ in HEADS[2:])
    return (Cell(text=name, is_mono=True), Cell(text=f"✗ {t(key)}", token="bad"), *empty)


def _cells(row: WeightRow) -> tuple[Cell, ...]:
    key, token = STATES[row.state]
    name = row.name if row.name == row.target else f"{row.target} ↔ {row.name}"
    state = Cell(text=f"{SIGNS[row.state]} {t(key)}", token=token, hint=t(row.reason) if row.reason else "")
    dtype = row.dtype if row.dtype == row.golden_dtype else f"{row.dtype} ↔ {row.golden_dtype}"
    shape = _shape(row.shape) if row.shape == row.golden_shape else f"{_shape(row.shape)} ↔ {_shape(row.golden_shape)}"
    figures = (row.l2_rel, row.max_abs, row.cosine, row.ulp)
    numbers = (Cell(text=_number(value), order=_order(value)) for value in figures)
    return (Cell(text=name, is_mono=True), state, Cell(text=dtype), Cell(text=shape), *numbers)


def _shape(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) or "1"


def _number(value: float | str) -> str:
    figure = float(value)
    return "–" if math.isnan(figure) else number(figure)


def _order(value: float | str) -> float:
    """Return the sort key of a figure; what cannot be measured sorts as the largest difference."""
    number = float(value)
    return math.inf if math.isnan(number) else number
