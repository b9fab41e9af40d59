"""The page of one call: its verdict and why, both sides, what it passes on, who called it, its tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from backends.precision.compare.comparison import FIRST
from backends.precision.msprobe import acc_check
from studio.texts import t
from ui import theme
from ui.precision.operator_rows import OperatorRows
from ui.precision.operator_stack import OperatorStack
from ui.precision.operator_why import why
from ui.precision.picture_view import PictureView
from ui.precision.row_text import golden_name, grouped, has_target
from ui.precision.spread_list import SpreadList
from ui.precision.verdict_mark import TOKENS, mark_pixmap, word
from ui.say import say
from ui.widgets import Elided, Empty, Sentence, button, label, retone

if TYPE_CHECKING:
    from PySide6.QtWidgets import QPushButton

    from backends.precision.compare.comparison import Comparison
    from ui.precision.comparison_selection import Selection

PAUSE = 25
MARK = 18
ROLES = {"good": "good", "warning": "warning", "bad": "bad"}


class OperatorPage(QFrame):
    """`deeper_wanted`, `reproducer_wanted`, `issue_wanted`, `alone_wanted`: of the call that is shown."""

    deeper_wanted = Signal()
    reproducer_wanted = Signal()
    issue_wanted = Signal()
    alone_wanted = Signal()
    source_wanted = Signal(str, int)

    def __init__(self, selection: Selection) -> None:
        super().__init__()
        self.setObjectName("precision_operator")
        self.setProperty("role", "card")
        self._selection = selection
        self._comparison: Comparison | None = None
        self.call = -1
        self.name = Elided(Qt.TextElideMode.ElideMiddle, "title")
        self.name.setObjectName("precision_operator_name")
        self.where, self.verdict = Elided(role="hint"), label(role="strong")
        self.why = Sentence()
        self.why.setObjectName("precision_why")
        self._mark = QLabel()
        self._mark.setFixedSize(QSize(MARK, MARK))
        self.rows, self.spread = OperatorRows(), SpreadList()
        self.stack, self.pictures = OperatorStack(), PictureView()
        self._stack = QStackedWidget()
        self._stack.addWidget(Empty("search", "precision.operator.none", "precision.operator.none_text"))
        self._stack.addWidget(self._make_page())
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.addWidget(self._stack)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.timeout.connect(self._show)
        self._connect()

    def _connect(self) -> None:
        self.deeper.clicked.connect(self.deeper_wanted)
        self.pictures.deeper_wanted.connect(self.deeper_wanted)
        self.reproducer.clicked.connect(self.reproducer_wanted)
        self.issue.clicked.connect(self.issue_wanted)
        self.alone.clicked.connect(self.alone_wanted)
        self.stack.source_wanted.connect(self.source_wanted)
        self.rows.row_chosen.connect(self._choose_row)
        self.pictures.row_chosen.connect(self._choose_row)
        self.spread.call_chosen.connect(self._selection.select)
        self._selection.changed.connect(self._follow)
        theme.notifier().changed.connect(self._show)

    def _make_page(self) -> QWidget:
        content = QWidget()
        content.setProperty("role", "clear")
        column = QVBoxLayout(content)
        column.setContentsMargins(16, 14, 14, 14)
        column.setSpacing(8)
        column.addLayout(self._make_head())
        column.addWidget(self.why)
        column.addLayout(self._make_buttons())
        column.addWidget(self._make_alone(), 0, Qt.AlignmentFlag.AlignLeft)
        for key, part in (
            ("precision.operator.sides", self.rows),
            ("precision.operator.spread", self.spread),
            ("precision.operator.stack", self.stack),
            ("precision.operator.pictures", self.pictures),
        ):
            column.addSpacing(6)
            column.addWidget(label(key, "title"))
            column.addWidget(part)
        column.addStretch(1)
        self.area = QScrollArea()
        self.area.setObjectName("precision_operator_scroll")
        self.area.setWidgetResizable(True)
        self.area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(content)
        say(self.area, "setAccessibleName", "precision.operator.page")
        return self.area

    def _make_head(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(9)
        grid.setVerticalSpacing(2)
        self.name.setFont(theme.mono_font(13))
        grid.addWidget(self.name, 0, 0, 1, 3)
        grid.addWidget(self.where, 1, 0, 1, 3)
        grid.addWidget(self._mark, 2, 0)
        grid.addWidget(self.verdict, 2, 1)
        grid.setColumnStretch(2, 1)
        return grid

    def _make_buttons(self) -> QHBoxLayout:
        self.deeper = button("precision.operator.deeper", "precision_deeper")
        self.reproducer = button("precision.operator.reproducer", "precision_reproducer")
        self.issue = button("precision.operator.issue", "precision_issue")
        say(self.deeper, "setToolTip", "precision.operator.deeper_hint")
        say(self.reproducer, "setToolTip", "precision.operator.reproducer_hint")
        say(self.issue, "setToolTip", "precision.operator.issue_hint")
        row = QHBoxLayout()
        row.setSpacing(6)
        for widget in (self.deeper, self.reproducer, self.issue):
            widget.setStyleSheet("QPushButton { padding-left: 9px; padding-right: 9px; }")
            row.addWidget(widget)
        row.addStretch(1)
        return row

    def _make_alone(self) -> QPushButton:
        """msprobe's acc_check wants a card: nothing is offered without one."""
        self.alone = button("precision.beside.alone_button", "precision_alone")
        say(self.alone, "setToolTip", "precision.beside.alone_button_hint")
        self.alone.setVisible(bool(acc_check.cards()))
        return self.alone

    def show_frame(self, has_frame: bool) -> None:
        """A card of its own, or a part of another."""
        retone(self, "role", "card" if has_frame else "")

    def show_comparison(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self.call = -1
        self._show()

    def _follow(self) -> None:
        """Soon: who holds an arrow key down waits for no page."""
        self._pause.start(PAUSE)

    def _show(self) -> None:
        found, call = self._comparison, self._selection.call
        is_there = found is not None and 0 <= call < len(found.names)
        self._stack.setCurrentIndex(1 if is_there else 0)
        if not is_there or found is None:
            return
        is_other, self.call = call != self.call, call
        self._show_head(found, call)
        self.rows.show_call(found, call)
        self.spread.show_call(found, call)
        self.stack.show_call(found, call)
        self.pictures.show_call(found, call, self._selection.row)
        self.rows.mark(self._selection.row)
        if is_other:
            self.area.verticalScrollBar().setValue(0)

    def _show_head(self, found: Comparison, call: int) -> None:
        verdict = int(found.call_verdict[call])
        self.name.setText(found.names[call] if has_target(found, call) else golden_name(found, call))
        self.where.setText(_where(found, call))
        is_first = found.first is not None and found.first.call == call
        shown = FIRST if is_first else verdict
        self._mark.setPixmap(mark_pixmap(shown, MARK))
        self.verdict.setText(" · ".join(dict.fromkeys((word(shown), word(verdict)))))
        retone(self.verdict, "role", ROLES.get(TOKENS[shown], "strong"))
        self.why.setText(why(found, call))

    def _choose_row(self, row: int) -> None:
        self._selection.select(self.call, row)

    def retranslate(self) -> None:
        self._show()


def _where(found: Comparison, call: int) -> str:
    """'Call 12 of 57 · forward · step 0, rank 0 · in Module.1.TransformerEncoderLayer.forward.0'."""
    one = [one for one in found.passes if one.first_call <= call][-1]
    parts = [
        t("precision.operator.number", number=grouped(call + 1), n=grouped(len(found.names))),
        t("precision.view.pass", step=one.step, rank=one.rank),
    ]
    other = golden_name(found, call)
    if has_target(found, call) and other != found.names[call]:
        parts.append(t("precision.operator.golden_name", name=other))
    if (parent := int(found.parent[call])) >= 0:
        parts.append(t("precision.operator.inside", name=found.names[parent]))
    return " · ".join(parts)
