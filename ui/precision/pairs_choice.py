"""Which dump of one side is compared with which of the other: found by step and rank, changed by hand."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QVBoxLayout, QWidget

from backends.precision.dump.pairs import Number, number, pairs
from studio.errors import StudioError
from studio.texts import t
from ui.page_scroll import empty
from ui.say import say
from ui.widgets import Elided, Sentence, label, text_button

if TYPE_CHECKING:
    from PySide6.QtGui import QWheelEvent

    from backends.precision.dump.dump import Place
    from backends.precision.dump.pairs import Pair
    from ui.precision.captures import Capture

MOST = 40


class _Partner(QComboBox):
    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class PairsChoice(QWidget):
    """`by_hand`: the numbers of the target and of the golden side that somebody put together."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("precision_pairs")
        self.by_hand: tuple[tuple[Number, Number], ...] = ()
        self.pairs: tuple[Pair, ...] = ()
        self._sides: tuple[Capture | None, Capture | None] = (None, None)
        self._sentence = Sentence()
        self._rows = QWidget()
        self._grid = QGridLayout(self._rows)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(3, 1)
        self._back = text_button("precision.start.pairs_back", "precision_pairs_back")
        self._back.clicked.connect(self._forget)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self._sentence)
        column.addWidget(self._rows)
        column.addWidget(self._back, 0, Qt.AlignmentFlag.AlignLeft)
        self.hide()

    def show_sides(self, target: Capture | None, golden: Capture | None) -> None:
        """Hidden until both sides are there. What was put together by hand stays as long as both do."""
        if [one and one.path for one in (target, golden)] != [one and one.path for one in self._sides]:
            self.by_hand = ()
        self._sides = (target, golden)
        self.retranslate()

    @property
    def compared(self) -> tuple[Pair, ...]:
        """Those that have both sides."""
        return tuple(one for one in self.pairs if one.target is not None and one.golden is not None)

    def retranslate(self) -> None:
        target, golden = self._sides
        self.setVisible(target is not None and golden is not None)
        if target is None or golden is None:
            self.pairs = ()
            return
        try:
            self.pairs = pairs(target.places, golden.places, self.by_hand)
        except StudioError:  # a dump that is gone by now
            self.by_hand = ()
            self.pairs = pairs(target.places, golden.places)
        self._fill(golden.places)
        self._back.setVisible(bool(self.by_hand))
        key = "precision.start.pairs" if self.compared else "precision.start.no_pairs"
        self._sentence.setText(t(key, count=len(self.compared), all=len(self.pairs)))

    def _fill(self, golden: tuple[Place, ...]) -> None:
        empty(self._grid)
        for row, key in enumerate(("precision.start.target", "precision.start.golden")):
            self._grid.addWidget(label(key, "hint"), 0, row * 2)
        for row, pair in enumerate(self.pairs[:MOST], 1):
            self._add(row, pair, golden)
        if len(self.pairs) > MOST:
            more = Sentence()
            say(more, "setText", "precision.start.more_pairs", count=len(self.pairs) - MOST)
            self._grid.addWidget(more, MOST + 1, 0, 1, 4)

    def _add(self, row: int, pair: Pair, golden: tuple[Place, ...]) -> None:
        left = label()
        left.setText(place_text(pair.target))
        arrow = label(role="dim")
        arrow.setText("↔")
        note = Elided(role="hint")
        note.setText(t(pair.note) if pair.note else "")
        right: QWidget
        if pair.target is None or len(golden) < 2:
            right = label()
            right.setText(place_text(pair.golden))
        else:
            right = self._partner(row, pair.target, pair.golden, golden)
        for column, widget in enumerate((left, arrow, right, note)):
            self._grid.addWidget(widget, row, column)

    def _partner(self, row: int, target: Place, chosen: Place | None, golden: tuple[Place, ...]) -> QWidget:
        box = _Partner()
        box.setObjectName(f"precision_partner_{row}")
        say(box, "setAccessibleName", "precision.start.partner")
        if chosen is None:
            box.addItem(place_text(None), None)
        for place in golden:
            box.addItem(place_text(place), place)
        box.setCurrentIndex(next((at for at in range(box.count()) if box.itemData(at) == chosen), 0))
        box.activated.connect(partial(self._put_together, box, target))
        return box

    def _put_together(self, box: QComboBox, target: Place, _index: int) -> None:
        golden = box.currentData()
        if golden is None:
            return
        mine, other = number(target), number(golden)
        kept = [one for one in self.by_hand if one[0] != mine and one[1] != other]
        self.by_hand = (*kept, (mine, other))
        self.retranslate()
        self.changed.emit()

    def _forget(self) -> None:
        self.by_hand = ()
        self.retranslate()
        self.changed.emit()


def place_text(place: Place | None) -> str:
    """'step 0 · rank 1', and the folder's name where that says neither."""
    if place is None:
        return t("precision.start.no_partner")
    parts = [
        t("precision.start.step", step=place.step) if place.step is not None else "",
        t("precision.start.rank", rank=place.rank) if place.rank is not None else "",
    ]
    return " · ".join(filter(None, parts)) or place.label or place.folder.name
