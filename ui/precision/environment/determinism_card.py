"""The proof of determinism: the same training twice, compared bit by bit, and once without a capture."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout

from backends.precision.determinism.spec import DeterminismSpec, code_of
from backends.precision.determinism.work import advice, verdict_notes
from studio.sentences import sentence_of
from studio.texts import t
from studio.units import number
from ui.precision.last_training import COMMANDS, with_folder, with_training
from ui.precision.spec_boxes import SpecBoxes
from ui.services.last_program import ProgramSearch
from ui.widgets.basic import (
    Card,
    Chip,
    Sentence,
    button,
    label,
)
from ui.widgets.cell_table import (
    Cell,
    TableModel,
    fit_height,
    table_view,
)
from ui.widgets.localized import joined

if TYPE_CHECKING:
    from backends.precision.determinism.result import DeterminismResult, LossRow, Verdict
    from studio.project import Project
    from ui.services.consent import Consent
    from ui.services.last_program import LastProgram
    from ui.services.session import Session
    from ui.widgets.basic import Tone
    from ui.widgets.page_scroll import PageScroll

ROWS = (("line",), ("workdir", "python"), ("compared_steps", "digest_steps"))
IMPLIED = {
    "line": "precision.more.implied_line", "workdir": "own_script.implied_workdir",
    "python": "own_script.implied_python",
}  # fmt: skip
HEADS = (
    "precision.environment.step", "precision.environment.first", "precision.environment.second",
    "precision.environment.without",
)  # fmt: skip
VERDICTS: dict[Verdict, tuple[str, Tone]] = {
    "equal": ("precision.environment.is_deterministic", "good"), "differs": ("precision.environment.is_not", "bad"),
    "capture_changes": ("precision.environment.is_changed", "bad"),
    "incomplete": ("precision.environment.is_incomplete", "warning"),
}  # fmt: skip
HEIGHT = 220


class DeterminismCard(Card):
    """`start_requested` carries a command and its spec, which runs the user's code."""

    start_requested = Signal(str, object)

    def __init__(self, session: Session, consent: Consent) -> None:
        super().__init__("precision.environment.determinism")
        self.setObjectName("precision_determinism")
        self._session, self._consent = session, consent
        self.area: PageScroll | None = None
        self.result: DeterminismResult | None = None
        self.chip = Chip()
        self.header.insertWidget(1, self.chip)
        self.boxes = SpecBoxes(DeterminismSpec(), "precision", ROWS, IMPLIED)
        self._prefilled = self.boxes.spec
        self._search = ProgramSearch(COMMANDS, self)
        self._search.found.connect(self._prefill_with)
        self.boxes.edited.connect(self._update_start)
        self.start = button("precision.environment.prove", "precision_prove")
        self.start.clicked.connect(self._request_start)
        self._verdict, self._advice, self._capture = Sentence(), Sentence(), Sentence()
        self.losses = TableModel(HEADS, frozenset({0, 1, 2, 3}))
        self._table = table_view(self.losses, "precision_determinism_losses", "precision.environment.losses", 1, 2, 3)
        self.body.addWidget(Sentence("precision.environment.determinism_text"))
        self.body.addWidget(self.boxes)
        last = QHBoxLayout()
        last.addStretch(1)
        last.addWidget(self.start)
        self.body.addLayout(last)
        self._heading = label("precision.environment.losses", "strong")
        for widget in (self._verdict, self._advice, self._capture, self._heading, self._table):
            self.body.addWidget(widget)
        self._update_start()
        self.show_result(None)

    def show_project(self, project: Project | None) -> None:
        self._take(with_folder(DeterminismSpec(), project))
        self.show_result(None)
        self.prefill()

    def prefill(self) -> None:
        """Fill in the last training's command line where nothing has been typed yet."""
        if self._session.project is not None and self.boxes.spec == self._prefilled:
            self._search.begin(self._session.project, self._session.listed)

    def _prefill_with(self, project: Project, program: LastProgram | None) -> None:
        spec = with_training(DeterminismSpec(), project, program)
        if self._session.project == project and self.boxes.spec == self._prefilled != spec:
            self._take(spec)

    def _take(self, spec: DeterminismSpec) -> None:
        self._prefilled = spec
        self.boxes.show_spec(spec)
        self._update_start()

    def _update_start(self) -> None:
        self.start.setEnabled(not self.boxes.problems())

    def _request_start(self) -> None:
        spec = self.boxes.spec
        if self._consent.asks(partial(code_of, spec), self._request_start):
            if self.area is not None:
                self.area.reveal(self._consent)
        else:
            self.start_requested.emit("determinism", spec)

    def show_result(self, result: DeterminismResult | None) -> None:
        self.result = result
        self.retranslate()

    def sentence(self) -> str:
        result = self.result
        return "" if result is None else joined([sentence_of(note) for note in verdict_notes(result)])

    def retranslate(self) -> None:
        result = self.result
        for widget in (self.chip, self._verdict, self._advice, self._capture, self._heading, self._table):
            widget.setVisible(result is not None)
        if result is None:
            return
        key, tone = VERDICTS[result.verdict]
        self.chip.show_state(t(key), tone)
        self._verdict.setText(self.sentence())
        self._advice.setVisible(result.first is not None)
        self._advice.setText(t(advice(result)) if result.first is not None else "")
        self._capture.setText(t(_capture_key(result)))
        self.losses.show_rows([_cells(row) for row in result.losses])
        fit_height(self._table, HEIGHT)


def _capture_key(result: DeterminismResult) -> str:
    if result.capture_changes is None:
        return "precision.environment.capture_unknown"
    return "precision.determinism.capture_changes" if result.capture_changes else "precision.environment.capture_same"


def _cells(row: LossRow) -> tuple[Cell, ...]:
    losses = (row.first, row.second, row.without)
    return (Cell(text=str(row.step), order=row.step), *(_cell(loss, row.first) for loss in losses))


def _cell(loss: float | str | None, first: float | str | None) -> Cell:
    """Return the cell of a loss, marked where it differs from the first run's."""
    if loss is None:
        return Cell(text="–")
    text = loss if isinstance(loss, str) else number(loss, 9)
    return Cell(text=text, token="text" if loss == first else "bad")
