"""Two checkpoints, tensor by tensor."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout

from backends.precision.weights.spec import WeightsSpec
from studio import schema
from studio.texts import t
from studio.units import number
from ui.cell_table import Cell, TableModel, fit_height, table_view
from ui.precision.path_choice import PathChoice
from ui.precision.spec_boxes import SpecBoxes
from ui.say import joined
from ui.widgets import Card, Chip, Sentence, button

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.precision.weights.result import Row, State, Weights
    from studio.run import Run

ROWS = (("allow_weights", "torch_python"),)
HEADS = (
    "precision.more.tensor", "precision.more.state", "precision.more.dtype", "precision.more.shape",
    "precision.more.l2_rel", "precision.more.max_abs", "precision.more.cosine", "precision.more.ulp",
)  # fmt: skip
NUMBERS = frozenset({4, 5, 6, 7})
STATES: dict[State, tuple[str, str]] = {
    "equal": ("precision.more.equal", "good"), "close": ("precision.more.close", "dim"),
    "differs": ("precision.more.differs", "bad"),
}  # fmt: skip
SIGNS: dict[State, str] = {"equal": "✓", "close": "≈", "differs": "✗"}
ORDER: tuple[State, ...] = ("differs", "close", "equal")
MISSING, EXTRA = "precision.more.missing", "precision.more.extra"
GUTTER = 28
HEIGHT = 340


class WeightsCard(Card):
    """`start_wanted`: a command and its spec."""

    start_wanted = Signal(str, object)

    def __init__(self) -> None:
        super().__init__("precision.more.weights")
        self.setObjectName("precision_weights")
        self.found: Weights | None = None
        self.chip = Chip()
        self.header.insertWidget(1, self.chip)
        self.target = PathChoice("precision_weights_target", "precision.start.target")
        self.golden = PathChoice("precision_weights_golden", "precision.start.golden")
        sides = QHBoxLayout()
        sides.setSpacing(GUTTER)
        for side in (self.target, self.golden):
            side.chosen.connect(self._judge)
            sides.addWidget(side, 1)
        self.boxes = SpecBoxes(WeightsSpec(), "precision", ROWS)
        self.boxes.edited.connect(self._judge)
        self.start = button("precision.more.compare_weights", "precision_compare_weights")
        self.start.clicked.connect(self._ask)
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
        self._judge()
        self.show_result(None)

    def show_known(self, known: Sequence[tuple[str, Path]]) -> None:
        for side in (self.target, self.golden):
            side.show_known(known)

    def forget(self) -> None:
        for side in (self.target, self.golden):
            side.show_path(None)
        self.show_result(None)
        self._judge()

    def _spec(self) -> Any:
        spec: Any = self.boxes.spec
        for name, side in (("target_weights", self.target), ("golden_weights", self.golden)):
            spec = schema.with_value(spec, name, side.path or Path())
        return spec

    def _judge(self) -> None:
        self.start.setEnabled(not schema.problems(self._spec()) and not self.boxes.unread)

    def _ask(self) -> None:
        self.start_wanted.emit("compare-weights", self._spec())

    # What came of it

    def show_answer(self, run: Run, found: Weights | None) -> None:
        asked = schema.from_json(WeightsSpec, run.asked.values)[0].checkpoints
        for side, path in ((self.target, asked.target_weights), (self.golden, asked.golden_weights)):
            side.show_path(side.path or path)
        self._judge()
        self.show_result(found)

    def show_result(self, found: Weights | None) -> None:
        self.found = found
        self.retranslate()

    def retranslate(self) -> None:
        found = self.found
        for widget in (self.chip, self.sentence, self._table):
            widget.setVisible(found is not None)
        if found is None:
            return
        passes = found.passes()
        key = "precision.more.weights_pass" if passes else "precision.more.weights_fail"
        self.chip.show_state(t(key), "good" if passes else "bad")
        self.sentence.setText(sentence_of(found))
        alone = [(name, MISSING) for name in found.missing] + [(name, EXTRA) for name in found.extra]
        rows = sorted(found.rows, key=lambda row: ORDER.index(row.state))
        self.rows.show_rows([*(_alone(*one) for one in alone), *(_cells(row) for row in rows)])
        fit_height(self._table, HEIGHT)


def sentence_of(found: Weights) -> str:
    """How many tensors are equal, and the first that is not."""
    counts = {"equal": found.count("equal"), "close": found.count("close"), "differs": found.count("differs")}
    said = [t("precision.more.weights_counts", all=len(found.rows), **counts)]
    first = found.first_different()
    if first is not None:
        said.append(t("precision.more.weights_first", name=first.name, error=_number(first.l2_rel)))
    if found.missing or found.extra:
        said.append(t("precision.more.weights_alone", missing=len(found.missing), extra=len(found.extra)))
    return joined(said)


def _alone(name: str, key: str) -> tuple[Cell, ...]:
    empty = tuple(Cell(text="") for _ in HEADS[2:])
    return (Cell(text=name, is_mono=True), Cell(text=f"✗ {t(key)}", token="bad"), *empty)


def _cells(row: Row) -> tuple[Cell, ...]:
    key, token = STATES[row.state]
    name = row.name if row.name == row.target else f"{row.target} ↔ {row.name}"
    state = Cell(text=f"{SIGNS[row.state]} {t(key)}", token=token, hint=t(row.reason) if row.reason else "")
    dtype = row.dtype if row.dtype == row.golden_dtype else f"{row.dtype} ↔ {row.golden_dtype}"
    shape = _shape(row.shape) if row.shape == row.golden_shape else f"{_shape(row.shape)} ↔ {_shape(row.golden_shape)}"
    figures = (row.l2_rel, row.max_abs, row.cosine, row.ulp)
    numbers = (Cell(text=_number(one), order=_order(one)) for one in figures)
    return (Cell(text=name, is_mono=True), state, Cell(text=dtype), Cell(text=shape), *numbers)


def _shape(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) or "1"


def _number(value: float | str) -> str:
    found = float(value)
    return "–" if math.isnan(found) else number(found)


def _order(value: float | str) -> float:
    """What cannot be measured is furthest apart."""
    found = float(value)
    return math.inf if math.isnan(found) else found
