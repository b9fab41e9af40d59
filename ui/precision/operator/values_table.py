"""The inputs and outputs of a call, both sides one below the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from backends.precision.compare.comparison import DIFFERS, EQUAL, EXPLAINED, EXTRA, FIRST, FOLLOWS, MISSING
from studio.texts import t
from ui.precision import row_text
from ui.precision.row_text import NOTHING, format_figure, format_statistic
from ui.precision.verdict_mark import SIZE, VERDICT_TOKENS, mark_pixmap, verdict_word
from ui.widgets import theme
from ui.widgets.basic import Elided, label
from ui.widgets.labels import TextLine
from ui.widgets.page_scroll import empty
from ui.widgets.theme import mono_font

if TYPE_CHECKING:
    from PySide6.QtGui import QMouseEvent, QPaintEvent

    from backends.precision.compare.comparison import Comparison

MAX_ROWS = 14
NAME = 140  # px
STATS = ("precision.operator.max", "precision.operator.min", "precision.operator.mean", "precision.operator.norm")
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
ROLES = {"good": "good", "warning": "warning", "bad": "bad"}


class ValuesTable(QWidget):
    """`row_chosen` carries an index into the comparison. The worst are shown where a call has very many rows."""

    row_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(2)
        self.blocks: dict[int, _Block] = {}

    def show_call(self, comparison: Comparison, call: int) -> None:
        empty(self._column)
        begin, end = (int(bound) for bound in comparison.call.searchsorted((call, call + 1)))
        rows = _listed_rows(comparison, begin, end)
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
        """Mark the row that is selected."""
        for block_row, block in self.blocks.items():
            block.show_chosen(block_row == row)


def _listed_rows(comparison: Comparison, begin: int, end: int) -> list[int]:
    """Return the rows to show in their order, the worst where they are too many."""
    if end - begin <= MAX_ROWS:
        return list(range(begin, end))
    severity = {FIRST: 0, DIFFERS: 1, MISSING: 2, EXTRA: 2, FOLLOWS: 3, EXPLAINED: 5, EQUAL: 6}
    keys = [severity.get(int(verdict), 4) for verdict in comparison.verdict[begin:end]]
    return sorted((begin + np.argsort(keys, kind="stable")[:MAX_ROWS]).tolist())


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
    mark.setToolTip(verdict_word(verdict))
    mark.setAccessibleName(verdict_word(verdict))
    name = TextLine(Qt.TextElideMode.ElideMiddle, NAME)
    name.setProperty("role", "strong")
    name.setText(row_text.item_text(comparison, row))
    kind = Elided(role="hint")
    kind.setText(
        " · ".join(filter(None, (row_text.dtypes_text(comparison, row), row_text.shapes_text(comparison, row))))
    )
    line = QHBoxLayout()
    line.setSpacing(7)
    line.addWidget(mark)
    line.addWidget(name)
    line.addWidget(kind, 1)
    line.addWidget(_error(comparison, row, verdict))
    return line


def _error(comparison: Comparison, row: int, verdict: int) -> QLabel:
    """Return '2.4e-07 of 1.2e-06' in the colour of the verdict."""
    error, limit = format_figure(float(comparison.error[row])), format_figure(float(comparison.allowed[row]))
    text = label(role=ROLES.get(VERDICT_TOKENS[verdict], "hint"))
    if error != NOTHING:
        text.setText(t("precision.operator.error_of", error=error, limit=limit) if limit != NOTHING else error)
    else:
        text.setText(verdict_word(verdict))
    text.setToolTip(t("precision.operator.error_hint"))
    return text


def _has_stats(comparison: Comparison, row: int) -> bool:
    sides = comparison.target_stats[row], comparison.golden_stats[row]
    return not all(bool(np.isnan(side).all()) for side in sides)


def _stats(comparison: Comparison, row: int) -> QGridLayout:
    grid = QGridLayout()
    grid.setContentsMargins(SIZE + 7, 0, 0, 0)
    grid.setHorizontalSpacing(6)
    grid.setVerticalSpacing(1)
    verdict = comparison.verdict[row]
    sides = {"golden": comparison.golden_stats[row], "target": comparison.target_stats[row]}
    sides.pop({EXTRA: "golden", MISSING: "target"}.get(int(verdict), ""), None)
    differs = verdict in (FIRST, DIFFERS, FOLLOWS)
    role = ROLES.get(VERDICT_TOKENS[verdict], "") if differs else ""
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
    """Return the arguments and digests of both sides as they were dumped."""
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
    cell = label(role=role)
    cell.setText(text)
    return cell


def _number(value: float, role: str) -> QLabel:
    cell = _cell(format_statistic(value), role or "set")
    cell.setToolTip(repr(value))
    return cell
