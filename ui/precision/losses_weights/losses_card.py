"""The comparison of two runs by their losses: whether they differ by more than the golden side's own noise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout

from backends.precision.losses.spec import LossesSpec
from studio import schema
from studio.sentences import sentence_of
from studio.texts import t
from ui.precision.path_choice import PathChoice
from ui.precision.spec_boxes import SpecBoxes
from ui.widgets.basic import (
    Card,
    Chip,
    Sentence,
    button,
)
from ui.widgets.localized import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from studio.run import Run
    from ui.precision.losses_weights.loss_charts import LossCharts
    from ui.precision.losses_weights.losses_result import LossesResult
    from ui.widgets.basic import Tone

ROWS = (("metric", "loss_steps", "allow_losses", "follow"),)
SIDES = (
    ("target_run", "precision.start.target"), ("golden_run", "precision.start.golden"),
    ("noise_run", "precision.start.again"),
)  # fmt: skip
VERDICTS: dict[str, tuple[str, Tone]] = {
    "pass": ("precision.more.losses_pass", "good"), "differs": ("precision.more.losses_differ", "bad"),
    "nonfinite": ("precision.more.losses_nonfinite", "bad"),
    "both_nonfinite": ("precision.more.losses_nonfinite", "bad"),
    "incomplete": ("precision.more.losses_incomplete", "warning"),
    "too_few": ("precision.more.losses_few", "warning"),
}  # fmt: skip
GUTTER = 20


class LossesCard(Card):
    """`start_requested` carries a command and its spec."""

    start_requested = Signal(str, object)

    def __init__(self) -> None:
        super().__init__("precision.more.losses")
        self.setObjectName("precision_losses")
        self.losses: LossesResult | None = None
        self.charts: LossCharts | None = None
        self.chip = Chip()
        self.header.insertWidget(1, self.chip)
        self.sides = {name: PathChoice(f"precision_{name}", key, "folder") for name, key in SIDES}
        sides = QHBoxLayout()
        sides.setSpacing(GUTTER)
        for side in self.sides.values():
            side.chosen.connect(self._update_start)
            sides.addWidget(side, 1)
        implied = {"allow_losses": "precision.more.implied_allow", "loss_steps": "precision.more.implied_steps"}
        self.boxes = SpecBoxes(LossesSpec(), "precision", ROWS, implied)
        self.boxes.edited.connect(self._update_start)
        self.start = button("precision.more.compare_losses", "precision_compare_losses")
        self.start.clicked.connect(self._request_start)
        self.sentence = Sentence()
        last = QHBoxLayout()
        last.addStretch(1)
        last.addWidget(self.start)
        self.body.addWidget(Sentence("precision.more.losses_text"))
        self.body.addLayout(sides)
        self.body.addWidget(self.boxes)
        self.body.addLayout(last)
        self.body.addWidget(self.sentence)
        self._update_start()
        self._show(None)

    def show_choices(self, choices: Sequence[tuple[str, Path]]) -> None:
        for side in self.sides.values():
            side.show_choices(choices)

    def clear(self) -> None:
        for side in self.sides.values():
            side.show_path(None)
        self._show(None)
        self._update_start()

    def _spec(self) -> Any:
        spec: Any = self.boxes.spec
        for name, side in self.sides.items():
            spec = schema.with_value(spec, name, side.path or Path())
        return spec

    def _update_start(self) -> None:
        self.start.setEnabled(not schema.problems(self._spec()) and not self.boxes.unreadable)

    def _request_start(self) -> None:
        self.start_requested.emit("compare-losses", self._spec())

    def show_result(self, run: Run, losses: LossesResult) -> None:
        spec = schema.from_json(LossesSpec, run.request.values)[0]
        for name, side in self.sides.items():
            path = schema.value_of(spec, name)
            side.show_path(side.path or (path if path != Path() else None))
        self._update_start()
        if self.charts is None:  # Importing the charts takes a moment.
            from ui.precision.losses_weights.loss_charts import LossCharts

            self.charts = LossCharts()
            self.body.addWidget(self.charts)
        self._show(losses)

    def _show(self, losses: LossesResult | None) -> None:
        self.losses = losses
        self.retranslate()
        if self.charts is not None:
            self.charts.setVisible(losses is not None and len(losses.relative) > 0)
            if losses is not None:
                self.charts.show_losses(losses)

    def retranslate(self) -> None:
        losses = self.losses
        verdict = VERDICTS.get(str(losses.report.get("verdict"))) if losses is not None else None
        self.chip.setVisible(verdict is not None)
        if verdict is not None:
            self.chip.show_state(t(verdict[0]), verdict[1])
        sentences = losses.sentences if losses is not None else ()
        self.sentence.setText(joined([sentence_of(sentence) for sentence in sentences]))
        self.sentence.setVisible(bool(self.sentence.text()))
