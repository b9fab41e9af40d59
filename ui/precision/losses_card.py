"""Two runs by their losses: whether they are further apart than the golden side's own noise."""

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
from ui.widgets import Card, Chip, Sentence, button

if TYPE_CHECKING:
    from collections.abc import Sequence

    from studio.run import Run
    from ui.precision.loss_charts import LossCharts
    from ui.precision.readers import Losses
    from ui.widgets import Tone

ROWS = (("metric", "loss_steps", "allow_losses", "follow"),)
SIDES = (
    ("target_run", "precision.start.target"), ("golden_run", "precision.start.golden"),
    ("noise_run", "precision.start.again"),
)  # fmt: skip
VERDICTS: dict[str, tuple[str, Tone]] = {
    "pass": ("precision.more.losses_pass", "good"), "differs": ("precision.more.losses_differ", "bad"),
    "nonfinite": ("precision.more.losses_nonfinite", "bad"), "too_few": ("precision.more.losses_few", "warning"),
}  # fmt: skip
GUTTER = 20


class LossesCard(Card):
    """`start_wanted`: a command and its spec."""

    start_wanted = Signal(str, object)

    def __init__(self) -> None:
        super().__init__("precision.more.losses")
        self.setObjectName("precision_losses")
        self.found: Losses | None = None
        self.charts: LossCharts | None = None
        self.chip = Chip()
        self.header.insertWidget(1, self.chip)
        self.sides = {name: PathChoice(f"precision_{name}", key, "folder") for name, key in SIDES}
        sides = QHBoxLayout()
        sides.setSpacing(GUTTER)
        for side in self.sides.values():
            side.chosen.connect(self._judge)
            sides.addWidget(side, 1)
        implied = {"allow_losses": "precision.more.implied_allow", "loss_steps": "precision.more.implied_steps"}
        self.boxes = SpecBoxes(LossesSpec(), "precision", ROWS, implied)
        self.boxes.edited.connect(self._judge)
        self.start = button("precision.more.compare_losses", "precision_compare_losses")
        self.start.clicked.connect(self._ask)
        self.sentence = Sentence()
        last = QHBoxLayout()
        last.addStretch(1)
        last.addWidget(self.start)
        self.body.addWidget(Sentence("precision.more.losses_text"))
        self.body.addLayout(sides)
        self.body.addWidget(self.boxes)
        self.body.addLayout(last)
        self.body.addWidget(self.sentence)
        self._judge()
        self._show(None)

    def show_known(self, known: Sequence[tuple[str, Path]]) -> None:
        for side in self.sides.values():
            side.show_known(known)

    def forget(self) -> None:
        for side in self.sides.values():
            side.show_path(None)
        self._show(None)
        self._judge()

    def _spec(self) -> Any:
        spec: Any = self.boxes.spec
        for name, side in self.sides.items():
            spec = schema.with_value(spec, name, side.path or Path())
        return spec

    def _judge(self) -> None:
        self.start.setEnabled(not schema.problems(self._spec()) and not self.boxes.unread)

    def _ask(self) -> None:
        self.start_wanted.emit("compare-losses", self._spec())

    # What came of it

    def show_result(self, run: Run, found: Losses) -> None:
        asked = schema.from_json(LossesSpec, run.asked.values)[0]
        for name, side in self.sides.items():
            path = schema.value_of(asked, name)
            side.show_path(side.path or (path if path != Path() else None))
        self._judge()
        if self.charts is None:  # drawing takes a moment to load
            from ui.precision.loss_charts import LossCharts

            self.charts = LossCharts()
            self.body.addWidget(self.charts)
        self._show(found)

    def _show(self, found: Losses | None) -> None:
        self.found = found
        self.retranslate()
        if self.charts is not None:
            self.charts.setVisible(found is not None and len(found.relative) > 0)
            if found is not None:
                self.charts.show_losses(found)

    def retranslate(self) -> None:
        found = self.found
        known = VERDICTS.get(str(found.found.get("verdict"))) if found is not None else None
        self.chip.setVisible(known is not None)
        if known is not None:
            self.chip.show_state(t(known[0]), known[1])
        self.sentence.setText(sentence_of(found.said) if found is not None else "")
        self.sentence.setVisible(bool(self.sentence.text()))
