"""The next calls that take what a call gave, with their errors: a click goes there."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from studio.texts import t
from ui import theme
from ui.page_scroll import empty
from ui.plain_text import plain_tip
from ui.precision.row_text import call_error
from ui.precision.spread import Reached, spread
from ui.precision.verdict_mark import mark_icon, word
from ui.precision.verdict_said import plain_name
from ui.widgets import Sentence, label

if TYPE_CHECKING:
    from backends.precision.compare.comparison import Comparison

STEP = 12


class SpreadList(QWidget):
    """`call_chosen`: an index into the comparison."""

    call_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self.reached: tuple[Reached, ...] = ()

    def show_call(self, comparison: Comparison, call: int) -> None:
        empty(self._column)
        self.reached = spread(comparison, call)
        for one in self.reached:
            self._add(comparison, one)
        if not self.reached:
            self._column.addWidget(Sentence("precision.operator.no_spread"))

    def _add(self, comparison: Comparison, reached: Reached) -> None:
        call = reached.call
        name = QPushButton(plain_name(comparison.names[call]).replace("&", "&&"))
        name.setObjectName(f"precision_reached_{call}")
        name.setProperty("role", "text")
        name.setStyleSheet("QPushButton { text-align: left; padding: 2px 4px; }")
        name.setFont(theme.mono_font(12))
        name.setIcon(mark_icon(int(comparison.call_verdict[call])))
        name.setIconSize(QSize(12, 12))
        name.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        said = word(int(comparison.call_verdict[call]))
        hint = t("precision.operator.reached_hint", name=comparison.names[call], verdict=said, n=reached.depth)
        name.setToolTip(plain_tip(hint))
        name.setAccessibleName(f"{comparison.names[call]}, {said}")
        name.clicked.connect(partial(self.call_chosen.emit, call))
        error = label(role="hint")
        error.setText(call_error(comparison, call))
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(STEP * (reached.depth - 1), 0, 0, 0)
        row.addWidget(name, 1)
        row.addWidget(error)
        self._column.addWidget(line)
