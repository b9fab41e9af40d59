"""The calls that consume the outputs of a call, with their errors; a click selects one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from backends.precision.compare.consumers import Consumer, downstream_calls
from studio.texts import t
from ui.precision.row_text import format_call_error
from ui.precision.verdict_mark import mark_icon, verdict_word
from ui.precision.verdict_text import plain_name
from ui.widgets import theme
from ui.widgets.basic import Sentence, label
from ui.widgets.page_scroll import empty
from ui.widgets.plain_tip import plain_tip

if TYPE_CHECKING:
    from backends.precision.compare.comparison import Comparison

STEP = 12


class ConsumerList(QWidget):
    """`call_chosen` carries an index into the comparison."""

    call_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self.consumers: tuple[Consumer, ...] = ()

    def show_call(self, comparison: Comparison, call: int) -> None:
        empty(self._column)
        self.consumers = downstream_calls(comparison, call)
        for consumer in self.consumers:
            self._add(comparison, consumer)
        if not self.consumers:
            self._column.addWidget(Sentence("precision.operator.no_spread"))

    def _add(self, comparison: Comparison, reached: Consumer) -> None:
        call = reached.call
        name = QPushButton(plain_name(comparison.names[call]).replace("&", "&&"))
        name.setObjectName(f"precision_reached_{call}")
        name.setProperty("role", "text")
        name.setStyleSheet("QPushButton { text-align: left; padding: 2px 4px; }")
        name.setFont(theme.mono_font(12))
        name.setIcon(mark_icon(int(comparison.call_verdict[call])))
        name.setIconSize(QSize(12, 12))
        name.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        verdict = verdict_word(int(comparison.call_verdict[call]))
        hint = t("precision.operator.reached_hint", name=comparison.names[call], verdict=verdict, n=reached.depth)
        name.setToolTip(plain_tip(hint))
        name.setAccessibleName(f"{comparison.names[call]}, {verdict}")
        name.clicked.connect(partial(self.call_chosen.emit, call))
        error = label(role="hint")
        error.setText(format_call_error(comparison, call))
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(STEP * (reached.depth - 1), 0, 0, 0)
        row.addWidget(name, 1)
        row.addWidget(error)
        self._column.addWidget(line)
