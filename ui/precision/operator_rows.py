"""Inputs and outputs of a call, both sides below each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from backends.precision.compare.comparison import DIFFERS, EQUAL, EXPLAINED, EXTRA, FIRST, FOLLOWS, MISSING
from studio.texts import t
from ui import theme
from ui.page_scroll import empty
from ui.precision import row_text
from ui.precision.row_text import NOTHING, figure, stat
from ui.precision.verdict_mark import SIZE, TOKENS, mark_pixmap, word
from ui.theme import mono_font
from ui.widgets import Elided, label

if TYPE_CHECKING:
    from PySide6.QtGui import QMouseEvent, QPaintEvent

    from backends.precision.compare.comparison import Comparison

MOST = 14
STATS = ("precision.operator.max", "precision.operator.min", "precision.operator.mean", "precision.operator.norm")
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
ROLES = {"good": "good", "warning": "warning", "bad": "bad"}


class OperatorRows(QWidget):
    """`row_chosen`: an index into the comparison. Of very many rows the worst are shown; the table has all."""

    row_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(2)
        self.blocks: dict[int, _Block] = {}

    def show_call(self, comparison: Comparison, call: int) -> None:
        empty(self._column)
        begin, end = (int(place) for place in comparison.call.searchsorted((call, call + 1)))
        rows = _shown(comparison, begin, end)
        self.blocks = {row: _Block(comparison, row) for row in rows}
        for row, block in self.blocks.items():
            block.clicked.connect(self.row_chosen)
            self._column.addWidget(block)
            block.setObjectName(f"precision_row_{row}")
        if end - begin > len(rows):
            more = label(role="hint")
            more.setText(t("precision.operator.more_rows", n=end - begin - len(rows)))
            self._column.addWidget(more)
        if not rows:
            nothing = label(role="dim")
            nothing.setText(t("precision.operator.no_rows"))
            self._column.addWidget(nothing)

    def mark(self, row: int) -> None:
        """The row that is selected."""
        for one, block in self.blocks.items():
            block.show_chosen(one == row)


def _shown(comparison: Comparison, begin: int, end: int) -> list[int]:
    """In their order; where they are too many, the worst."""
    if end - begin <= MOST:
        return list(range(begin, end))
    severity = {FIRST: 0, DIFFERS: 1, MISSING: 2, EXTRA: 2, FOLLOWS: 3, EXPLAINED: 5, EQUAL: 6}
    keys = [severity.get(int(verdict), 4) for verdict in comparison.verdict[begin:end]]
    return sorted((begin + np.argsort(keys, kind="stable")[:MOST]).tolist())


class _Block(QFrame):
    clicked = Signal(int)

    def __init__(self, comparison: Comparison, row: int) -> None:
        super().__init__()
        self._row = row
        self._is_chosen = False
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 4, 6, 4)
        column.setSpacing(3)
        column.addLayout(_head(comparison, row))
        if comparison.is_scalar[row] or comparison.target_text[row] >= 0 or comparison.golden_text[row] >= 0:
            column.addLayout(_texts(comparison, row))
        if _has_stats(comparison, row):
            column.addLayout(_stats(comparison, row))

    def show_chosen(self, is_chosen: bool) -> None:
        self._is_chosen = is_chosen
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._is_chosen:
            with QPainter(self) as painter:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(theme.color("selected"))
                painter.drawRoundedRect(self.rect(), 6, 6)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit(self._row)


def _head(comparison: Comparison, row: int) -> QHBoxLayout:
    verdict = int(comparison.verdict[row])
    mark = QLabel()
    mark.setFixedSize(QSize(SIZE, SIZE))
    mark.setPixmap(mark_pixmap(verdict))
    mark.setToolTip(word(verdict))
    mark.setAccessibleName(word(verdict))
    place = label(role="strong")
    place.setText(row_text.place(comparison, row))
    kind = Elided(role="hint")
    kind.setText(" · ".join(filter(None, (row_text.dtype(comparison, row), row_text.shape(comparison, row)))))
    line = QHBoxLayout()
    line.setSpacing(7)
    line.addWidget(mark)
    line.addWidget(place)
    line.addWidget(kind, 1)
    line.addWidget(_error(comparison, row, verdict))
    return line


def _error(comparison: Comparison, row: int, verdict: int) -> QLabel:
    """'2.4e-07 of 1.2e-06', in the colour of the verdict."""
    error, limit = figure(float(comparison.error[row])), figure(float(comparison.allowed[row]))
    said = label(role=ROLES.get(TOKENS[verdict], "hint"))
    if error != NOTHING:
        said.setText(t("precision.operator.error_of", error=error, limit=limit) if limit != NOTHING else error)
    else:
        said.setText(word(verdict))
    said.setToolTip(t("precision.operator.error_hint"))
    return said


def _has_stats(comparison: Comparison, row: int) -> bool:
    sides = comparison.target_stats[row], comparison.golden_stats[row]
    return not all(bool(np.isnan(side).all()) for side in sides)


def _stats(comparison: Comparison, row: int) -> QGridLayout:
    grid = QGridLayout()
    grid.setContentsMargins(SIZE + 7, 0, 0, 0)
    grid.setHorizontalSpacing(8)
    grid.setVerticalSpacing(1)
    verdict = comparison.verdict[row]
    sides = {"golden": comparison.golden_stats[row], "target": comparison.target_stats[row]}
    sides.pop({EXTRA: "golden", MISSING: "target"}.get(int(verdict), ""), None)
    differs = verdict in (FIRST, DIFFERS, FOLLOWS)
    role = ROLES.get(TOKENS[verdict], "") if differs else ""
    for column, key in enumerate(STATS, 1):
        grid.addWidget(_cell(t(key), "hint"), 0, column, RIGHT)
        values = [float(side[column - 1]) for side in sides.values()]
        for line, value in enumerate(values, 1):
            grid.addWidget(_number(value, role if value != values[0] else ""), line, column, RIGHT)
        grid.setColumnStretch(column, 1)
    for line, side in enumerate(sides, 1):
        grid.addWidget(_cell(t(f"precision.operator.{side}"), "hint"), line, 0)
    return grid


def _texts(comparison: Comparison, row: int) -> QGridLayout:
    """Arguments and digests as they are written."""
    grid = QGridLayout()
    grid.setContentsMargins(SIZE + 7, 0, 0, 0)
    grid.setHorizontalSpacing(8)
    grid.setVerticalSpacing(1)
    sides = (
        ("precision.operator.golden", int(comparison.golden_text[row])),
        ("precision.operator.target", int(comparison.target_text[row])),
    )
    for line, (key, text) in enumerate(sides):
        value = Elided()
        value.setFont(mono_font(12))
        value.setText(comparison.texts[text] if text >= 0 else NOTHING)
        grid.addWidget(_cell(t(key), "hint"), line, 0)
        grid.addWidget(value, line, 1)
    grid.setColumnStretch(1, 1)
    return grid


def _cell(text: str, role: str) -> QLabel:
    made = label(role=role)
    made.setText(text)
    return made


def _number(value: float, role: str) -> QLabel:
    made = _cell(stat(value), role or "set")
    made.setToolTip(repr(value))
    return made
