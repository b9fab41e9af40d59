"""The same training twice, compared bit by bit, and once without a capture: what came of it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout

from backends.precision.determinism.spec import DeterminismSpec, code_of
from backends.precision.determinism.work import advice
from studio.texts import t
from studio.units import number
from ui.cell_table import Cell, TableModel, fit_height, table_view
from ui.precision.last_training import as_last
from ui.precision.spec_boxes import SpecBoxes
from ui.widgets import Card, Chip, Sentence, button, label

if TYPE_CHECKING:
    from backends.precision.determinism.result import Result, Row
    from studio.project import Project
    from ui.launch.consent import Consent
    from ui.page_scroll import PageScroll
    from ui.session import Session

ROWS = (("line",), ("workdir", "python"), ("compared_steps", "digest_steps"))
IMPLIED = {
    "line": "precision.more.implied_line", "workdir": "own_script.implied_workdir",
    "python": "own_script.implied_python",
}  # fmt: skip
HEADS = (
    "precision.environment.step", "precision.environment.first", "precision.environment.second",
    "precision.environment.without",
)  # fmt: skip
HEIGHT = 220


class DeterminismCard(Card):
    """`start_wanted`: a command and its spec; it runs the user's code."""

    start_wanted = Signal(str, object)

    def __init__(self, session: Session, consent: Consent) -> None:
        super().__init__("precision.environment.determinism")
        self.setObjectName("precision_determinism")
        self._session, self._consent = session, consent
        self.area: PageScroll | None = None
        self.result: Result | None = None
        self.chip = Chip()
        self.header.insertWidget(1, self.chip)
        self.boxes = SpecBoxes(DeterminismSpec(), "precision", ROWS, IMPLIED)
        self.boxes.edited.connect(self._judge)
        self.start = button("precision.environment.prove", "precision_prove")
        self.start.clicked.connect(self._ask)
        self._verdict, self._why, self._capture = Sentence(), Sentence(), Sentence()
        self.losses = TableModel(HEADS, frozenset({0, 1, 2, 3}))
        self._table = table_view(self.losses, "precision_determinism_losses", "precision.environment.losses", 1, 2, 3)
        self.body.addWidget(Sentence("precision.environment.determinism_text"))
        self.body.addWidget(self.boxes)
        last = QHBoxLayout()
        last.addStretch(1)
        last.addWidget(self.start)
        self.body.addLayout(last)
        self._heading = label("precision.environment.losses", "strong")
        for widget in (self._verdict, self._why, self._capture, self._heading, self._table):
            self.body.addWidget(widget)
        self._judge()
        self.show_result(None)

    def show_project(self, project: Project | None) -> None:
        self.boxes.show_spec(as_last(DeterminismSpec(), project, self._session.listed))
        self._judge()
        self.show_result(None)

    def take_last_line(self) -> None:
        if self.boxes.spec == as_last(DeterminismSpec(), self._session.project, []):
            self.boxes.show_spec(as_last(DeterminismSpec(), self._session.project, self._session.listed))
            self._judge()

    def _judge(self) -> None:
        self.start.setEnabled(not self.boxes.problems())

    def _ask(self) -> None:
        spec = self.boxes.spec
        if self._consent.asks(partial(code_of, spec), self._ask):
            if self.area is not None:
                self.area.reveal(self._consent)
        else:
            self.start_wanted.emit("determinism", spec)

    # What came of it

    def show_result(self, found: Result | None) -> None:
        self.result = found
        self.retranslate()

    def sentence(self) -> str:
        found = self.result
        if found is None:
            return ""
        first = found.first
        if first is None:
            return t("precision.determinism.equal", tensors=found.tensors, losses=len(found.losses))
        args = {"step": first.step, "name": first.name, "place": first.place, "index": first.index}
        return t("precision.determinism.differs", **args)

    def retranslate(self) -> None:
        found = self.result
        for widget in (self.chip, self._verdict, self._why, self._capture, self._heading, self._table):
            widget.setVisible(found is not None)
        if found is None:
            return
        is_same = found.deterministic
        key = "precision.environment.is_deterministic" if is_same else "precision.environment.is_not"
        self.chip.show_state(t(key), "good" if is_same else "bad")
        self._verdict.setText(self.sentence())
        self._why.setVisible(found.first is not None)
        self._why.setText(t(advice(found)) if found.first is not None else "")
        self._capture.setText(t(_capture_key(found)))
        self.losses.show_rows([_cells(row) for row in found.losses])
        fit_height(self._table, HEIGHT)


def _capture_key(found: Result) -> str:
    if found.capture_changes is None:
        return "precision.environment.capture_unknown"
    return "precision.determinism.capture_changes" if found.capture_changes else "precision.environment.capture_same"


def _cells(row: Row) -> tuple[Cell, ...]:
    losses = (row.first, row.second, row.without)
    return (Cell(text=str(row.step), order=row.step), *(_cell(one, row.first) for one in losses))


def _cell(loss: float | str | None, first: float | str | None) -> Cell:
    """Marked where it is not the first run's."""
    if loss is None:
        return Cell(text="–")
    text = loss if isinstance(loss, str) else number(loss, 9)
    return Cell(text=text, token="text" if loss == first else "bad")
