"""The pairs of dumps that are compared, matched by step and rank and changed by hand."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QVBoxLayout, QWidget

from backends.precision.dump.pairs import StepAndRank, pair_dumps, step_and_rank
from studio.errors import StudioError
from studio.texts import t
from ui.widgets.basic import (
    Elided,
    Sentence,
    label,
    text_button,
)
from ui.widgets.localized import localize
from ui.widgets.page_scroll import empty

if TYPE_CHECKING:
    from PySide6.QtGui import QWheelEvent

    from backends.precision.dump.dump import DumpLocation
    from backends.precision.dump.pairs import DumpPair
    from ui.precision.captures import Capture

MAX_ROWS = 40


class _Partner(QComboBox):
    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class PairsChoice(QWidget):
    """`manual_pairs` holds the numbers of a target and a golden dump that the user paired."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("precision_pairs")
        self.manual_pairs: tuple[tuple[StepAndRank, StepAndRank], ...] = ()
        self.pairs: tuple[DumpPair, ...] = ()
        self._sides: tuple[Capture | None, Capture | None] = (None, None)
        self._sentence = Sentence()
        self._rows = QWidget()
        self._grid = QGridLayout(self._rows)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(3, 1)
        self._reset = text_button("precision.start.pairs_back", "precision_pairs_back")
        self._reset.clicked.connect(self._reset_pairs)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self._sentence)
        column.addWidget(self._rows)
        column.addWidget(self._reset, 0, Qt.AlignmentFlag.AlignLeft)
        self.hide()

    def show_sides(self, target: Capture | None, golden: Capture | None) -> None:
        """Show the pairs of two captures; hidden until both are chosen. Manual pairs stay as long as both do."""
        if [capture and capture.path for capture in (target, golden)] != [
            chosen and chosen.path for chosen in self._sides
        ]:
            self.manual_pairs = ()
        self._sides = (target, golden)
        self.retranslate()

    @property
    def matched(self) -> tuple[DumpPair, ...]:
        """Return the pairs that have both sides."""
        return tuple(pair for pair in self.pairs if pair.target is not None and pair.golden is not None)

    def retranslate(self) -> None:
        target, golden = self._sides
        self.setVisible(target is not None and golden is not None)
        if target is None or golden is None:
            self.pairs = ()
            return
        try:
            self.pairs = pair_dumps(target.dumps, golden.dumps, self.manual_pairs)
        except StudioError:  # A dump has been deleted meanwhile.
            self.manual_pairs = ()
            self.pairs = pair_dumps(target.dumps, golden.dumps)
        self._fill(golden.dumps)
        self._reset.setVisible(bool(self.manual_pairs))
        key = "precision.start.pairs" if self.matched else "precision.start.no_pairs"
        self._sentence.setText(t(key, count=len(self.matched), all=len(self.pairs)))

    def _fill(self, golden: tuple[DumpLocation, ...]) -> None:
        empty(self._grid)
        for row, key in enumerate(("precision.start.target", "precision.start.golden")):
            self._grid.addWidget(label(key, "hint"), 0, row * 2)
        for row, pair in enumerate(self.pairs[:MAX_ROWS], 1):
            self._add(row, pair, golden)
        if len(self.pairs) > MAX_ROWS:
            more = Sentence()
            localize(more.setText, "precision.start.more_pairs", count=len(self.pairs) - MAX_ROWS)
            self._grid.addWidget(more, MAX_ROWS + 1, 0, 1, 4)

    def _add(self, row: int, pair: DumpPair, golden: tuple[DumpLocation, ...]) -> None:
        left = label()
        left.setText(dump_label(pair.target))
        arrow = label(role="dim")
        arrow.setText("↔")
        note = Elided(role="hint")
        note.setText(t(pair.note) if pair.note else "")
        right: QWidget
        if pair.target is None or len(golden) < 2:
            right = label()
            right.setText(dump_label(pair.golden))
        else:
            right = self._partner(row, pair.target, pair.golden, golden)
        for column, widget in enumerate((left, arrow, right, note)):
            self._grid.addWidget(widget, row, column)

    def _partner(
        self, row: int, target: DumpLocation, chosen: DumpLocation | None, golden: tuple[DumpLocation, ...]
    ) -> QWidget:
        box = _Partner()
        box.setObjectName(f"precision_partner_{row}")
        localize(box.setAccessibleName, "precision.start.partner")
        if chosen is None:
            box.addItem(dump_label(None), None)
        for dump in golden:
            box.addItem(dump_label(dump), dump)
        box.setCurrentIndex(next((at for at in range(box.count()) if box.itemData(at) == chosen), 0))
        box.activated.connect(partial(self._put_together, box, target))
        return box

    def _put_together(self, box: QComboBox, target: DumpLocation, _index: int) -> None:
        golden = box.currentData()
        if golden is None:
            return
        target_number, golden_number = step_and_rank(target), step_and_rank(golden)
        others = [pair for pair in self.manual_pairs if pair[0] != target_number and pair[1] != golden_number]
        self.manual_pairs = (*others, (target_number, golden_number))
        self.retranslate()
        self.changed.emit()

    def _reset_pairs(self) -> None:
        self.manual_pairs = ()
        self.retranslate()
        self.changed.emit()


def dump_label(dump: DumpLocation | None) -> str:
    """Return 'step 0 · rank 1', or the folder's name where the dump says neither."""
    if dump is None:
        return t("precision.start.no_partner")
    parts = [
        t("precision.start.step", step=dump.step) if dump.step is not None else "",
        t("precision.start.rank", rank=dump.rank) if dump.rank is not None else "",
    ]
    return " · ".join(filter(None, parts)) or dump.label or dump.folder.name
