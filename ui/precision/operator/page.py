"""The page of one call: its verdict and explanation, the values of both sides, consumers, stack and tensors."""

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
from ui.precision.operator.consumer_list import ConsumerList
from ui.precision.operator.explanation import explain_call
from ui.precision.operator.stack import CallStack
from ui.precision.operator.values_table import ValuesTable
from ui.precision.picture.view import PictureView
from ui.precision.row_text import format_count, golden_name, has_target
from ui.precision.verdict_mark import VERDICT_TOKENS, mark_pixmap, verdict_word
from ui.widgets import theme
from ui.widgets.basic import (
    Elided,
    Empty,
    Sentence,
    button,
    label,
    retone,
)
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from PySide6.QtWidgets import QPushButton

    from backends.precision.compare.comparison import Comparison
    from ui.precision.comparison.selection import Selection

PAUSE = 25
MARK = 18
ROLES = {"good": "good", "warning": "warning", "bad": "bad"}


class OperatorPage(QFrame):
    """The requests are about the call that is shown."""

    deeper_requested = Signal()
    reproducer_requested = Signal()
    issue_requested = Signal()
    acc_check_requested = Signal()
    source_requested = Signal(str, int)

    def __init__(self, selection: Selection) -> None:
        super().__init__()
        self.setObjectName("precision_operator")
        self.setProperty("role", "card")
        self._selection = selection
        self._comparison: Comparison | None = None
        self.call = -1
        self.name = Elided(Qt.TextElideMode.ElideMiddle, "title")
        self.name.setObjectName("precision_operator_name")
        self.location, self.verdict = Elided(role="hint"), label(role="strong")
        self.explanation = Sentence()
        self.explanation.setObjectName("precision_why")
        self._mark = QLabel()
        self._mark.setFixedSize(QSize(MARK, MARK))
        self.values, self.consumers = ValuesTable(), ConsumerList()
        self.stack, self.pictures = CallStack(), PictureView()
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
        self.deeper.clicked.connect(self.deeper_requested)
        self.pictures.deeper_requested.connect(self.deeper_requested)
        self.reproducer.clicked.connect(self.reproducer_requested)
        self.issue.clicked.connect(self.issue_requested)
        self.acc_check.clicked.connect(self.acc_check_requested)
        self.stack.source_requested.connect(self.source_requested)
        self.values.row_chosen.connect(self._choose_row)
        self.pictures.row_chosen.connect(self._choose_row)
        self.consumers.call_chosen.connect(self._selection.select)
        self._selection.changed.connect(self._follow)
        theme.notifier().changed.connect(self._show)

    def _make_page(self) -> QWidget:
        content = QWidget()
        content.setProperty("role", "clear")
        column = QVBoxLayout(content)
        column.setContentsMargins(14, 14, 12, 14)
        column.setSpacing(8)
        column.addLayout(self._make_head())
        column.addWidget(self.explanation)
        column.addLayout(self._make_buttons())
        column.addWidget(self._make_acc_check(), 0, Qt.AlignmentFlag.AlignLeft)
        for key, widget in (
            ("precision.operator.sides", self.values),
            ("precision.operator.spread", self.consumers),
            ("precision.operator.stack", self.stack),
            ("precision.operator.pictures", self.pictures),
        ):
            column.addSpacing(6)
            column.addWidget(label(key, "title"))
            column.addWidget(widget)
        column.addStretch(1)
        self.area = QScrollArea()
        self.area.setObjectName("precision_operator_scroll")
        self.area.setWidgetResizable(True)
        self.area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(content)
        localize(self.area.setAccessibleName, "precision.operator.page")
        return self.area

    def _make_head(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(9)
        grid.setVerticalSpacing(2)
        self.name.setFont(theme.mono_font(13))
        grid.addWidget(self.name, 0, 0, 1, 3)
        grid.addWidget(self.location, 1, 0, 1, 3)
        grid.addWidget(self._mark, 2, 0)
        grid.addWidget(self.verdict, 2, 1)
        grid.setColumnStretch(2, 1)
        return grid

    def _make_buttons(self) -> QHBoxLayout:
        self.deeper = button("precision.operator.deeper", "precision_deeper")
        self.reproducer = button("precision.operator.reproducer", "precision_reproducer")
        self.issue = button("precision.operator.issue", "precision_issue")
        localize(self.deeper.setToolTip, "precision.operator.deeper_hint")
        localize(self.reproducer.setToolTip, "precision.operator.reproducer_hint")
        localize(self.issue.setToolTip, "precision.operator.issue_hint")
        row = QHBoxLayout()
        row.setSpacing(6)
        for widget in (self.deeper, self.reproducer, self.issue):
            widget.setStyleSheet("QPushButton { padding-left: 9px; padding-right: 9px; }")
            row.addWidget(widget)
        row.addStretch(1)
        return row

    def _make_acc_check(self) -> QPushButton:
        """Return the button of msprobe's acc_check, hidden on a host without an NPU."""
        self.acc_check = button("precision.beside.alone_button", "precision_alone")
        localize(self.acc_check.setToolTip, "precision.beside.alone_button_hint")
        self.acc_check.setVisible(bool(acc_check.npu_devices()))
        return self.acc_check

    def show_frame(self, has_frame: bool) -> None:
        """Show the page as a card of its own, or without a frame inside another card."""
        retone(self, "role", "card" if has_frame else "")

    def show_comparison(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self.call = -1
        self._show()

    def _follow(self) -> None:
        """Show the selected call after a pause, so that holding an arrow key down does not wait for each page."""
        self._pause.start(PAUSE)

    def _show(self) -> None:
        comparison, call = self._comparison, self._selection.call
        has_call = comparison is not None and 0 <= call < len(comparison.names)
        self._stack.setCurrentIndex(1 if has_call else 0)
        if not has_call or comparison is None:
            return
        is_other, self.call = call != self.call, call
        self._show_head(comparison, call)
        self.values.show_call(comparison, call)
        self.consumers.show_call(comparison, call)
        self.stack.show_call(comparison, call)
        self.pictures.show_call(comparison, call, self._selection.row)
        self.values.mark(self._selection.row)
        if is_other:
            self.area.verticalScrollBar().setValue(0)

    def _show_head(self, comparison: Comparison, call: int) -> None:
        verdict = int(comparison.call_verdict[call])
        self.name.setText(comparison.names[call] if has_target(comparison, call) else golden_name(comparison, call))
        self.location.setText(_call_location(comparison, call))
        is_first = comparison.first is not None and comparison.first.call == call
        mark = FIRST if is_first else verdict
        self._mark.setPixmap(mark_pixmap(mark, MARK))
        self.verdict.setText(" · ".join(dict.fromkeys((verdict_word(mark), verdict_word(verdict)))))
        retone(self.verdict, "role", ROLES.get(VERDICT_TOKENS[mark], "strong"))
        self.explanation.setText(explain_call(comparison, call))

    def _choose_row(self, row: int) -> None:
        self._selection.select(self.call, row)

    def retranslate(self) -> None:
        self._show()


def _call_location(comparison: Comparison, call: int) -> str:
    """Return 'Call 12 of 57 · forward · step 0, rank 0 · in Module.1.TransformerEncoderLayer.forward.0'."""
    dump_pass = [each for each in comparison.passes if each.first_call <= call][-1]
    parts = [
        t("precision.operator.number", number=format_count(call + 1), n=format_count(len(comparison.names))),
        t("precision.view.pass", step=dump_pass.step, rank=dump_pass.rank),
    ]
    other = golden_name(comparison, call)
    if has_target(comparison, call) and other != comparison.names[call]:
        parts.append(t("precision.operator.golden_name", name=other))
    if (parent := int(comparison.parent[call])) >= 0:
        parts.append(t("precision.operator.inside", name=comparison.names[parent]))
    return " · ".join(parts)
