"""msprobe's own findings about the dumps that are compared, held against ours: a sheet below its button."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLayout, QScrollArea, QVBoxLayout, QWidget

from backends.precision.acc.work import result_note as alone_told
from backends.precision.overflow.work import result_notes as overflow_told
from studio.events import Finding
from studio.sentences import sentence_of
from studio.texts import t
from ui.precision.row_text import format_count
from ui.precision.verdict_text import plain_name
from ui.widgets.basic import (
    Sentence,
    button,
    label,
    line,
)
from ui.widgets.popover import Popover

if TYPE_CHECKING:
    from PySide6.QtWidgets import QPushButton

    from backends.precision.compare.comparison import Comparison
    from backends.precision.msprobe.table import TableRow
    from ui.precision.msprobe.results import (
        GraphFile,
        MsprobeResults,
        TableSummary,
        TrendFile,
    )

WIDTH, HEIGHT = 580, 520
BAR = 14


class MsprobeSheet(Popover):
    """Sections only for results that exist.

    `overflow_requested`: the target is to be checked; `graph_requested` and `trend_requested` carry a database to
    open."""

    overflow_requested = Signal()
    graph_requested = Signal(object)
    trend_requested = Signal(object)

    def __init__(
        self, owner: QWidget, comparison: Comparison, results: MsprobeResults, devices: tuple[str, ...]
    ) -> None:
        super().__init__(owner, "precision_msprobe_sheet", WIDTH)
        self._comparison = comparison
        self._parts = QVBoxLayout()
        self._parts.setSpacing(7)
        self.column.addWidget(label("precision.beside.title", "title"))
        self._add_scrolled()
        if results.tables is not None:
            self._add_tables(results.tables)
        self._add_overflow(results)
        for graph in results.graphs:
            self._add_graph(graph)
        for trend in results.trends:
            self._add_trend(trend)
        self._add_acc_check(results, devices)
        for problem in results.problems:
            self._sentence(str(problem))
        self._fit()

    def _add_scrolled(self) -> None:
        self._content = QWidget()
        self._content.setProperty("role", "clear")
        self._content.setLayout(self._parts)
        self._parts.setContentsMargins(0, 0, 0, 0)
        # Otherwise wrapping sentences ask for the height that they would need in a narrow column.
        self._parts.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        self.area = QScrollArea()
        self.area.setObjectName("precision_msprobe_scroll")
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(self._content)
        self.column.addWidget(self.area)

    def _fit(self) -> None:
        """Make the sheet as high as its content, up to the height from which on it scrolls."""
        margins = self.column.contentsMargins()
        room = WIDTH - margins.left() - margins.right() - BAR
        height = self._parts.totalHeightForWidth(room)
        self._content.setFixedSize(room, height)
        self.area.setFixedHeight(min(HEIGHT, height + 2))

    def _add_tables(self, tables: TableSummary) -> None:
        self._head("precision.beside.compare")
        self._sentence(agreement_text(self._comparison, tables.first), "precision_msprobe_held", "strong")
        if tables.first is not None and tables.first.message:
            self._sentence(t("precision.beside.message", message=tables.first.message))
        self._sentence(counts_text(tables), "precision_msprobe_counts")

    def _add_overflow(self, results: MsprobeResults) -> None:
        key = "precision.beside.check" if results.overflow is None else "precision.beside.check_again"
        self.check = button(key, "precision_overflow_check")
        self.check.clicked.connect(self._request_overflow)
        self._head("precision.beside.overflow", self.check)
        if results.overflow is None:
            self._sentence(t("precision.beside.overflow_text"))
            return
        for event in overflow_told(results.overflow):
            self._sentence(
                sentence_of(event), "precision_msprobe_overflow", "strong" if isinstance(event, Finding) else ""
            )

    def _request_overflow(self) -> None:
        self.close()
        self.overflow_requested.emit()

    def _add_graph(self, graph: GraphFile) -> None:
        opened = button("precision.beside.open_tree", "precision_open_graph")
        opened.clicked.connect(partial(self._open, self.graph_requested, graph))
        self._head("precision.beside.graph", opened)
        if len(graph.contents.sides) < 2:
            self._sentence(t("precision.beside.graph_built"))
        elif graph.first is None:
            self._sentence(t("precision.beside.graph_none"))
        else:
            name, where = graph.first.name, {"step": graph.step, "rank": graph.rank}
            text = t("precision.beside.graph_first", name=name, **where)
            self._sentence(text, "precision_msprobe_graph", "strong")
        steps, ranks = (", ".join(map(str, numbers)) for numbers in (graph.contents.steps, graph.contents.ranks))
        self._sentence(t("precision.beside.graph_holds", file=graph.path.name, steps=steps, ranks=ranks))

    def _add_trend(self, trend: TrendFile) -> None:
        opened = button("precision.beside.open_trend", "precision_open_trend")
        opened.clicked.connect(partial(self._open, self.trend_requested, trend))
        self._head("precision.beside.trend", opened)
        begin, end = trend.contents.steps
        contents = {"file": trend.path.name, "n": len(trend.contents.targets), "begin": begin, "end": end}
        self._sentence(t("precision.beside.trend_holds", **contents))

    def _open(self, signal: object, what: GraphFile | TrendFile, _checked: bool = False) -> None:
        self.close()
        signal.emit(what)  # type: ignore[attr-defined]

    def _add_acc_check(self, results: MsprobeResults, devices: tuple[str, ...]) -> None:
        self._head("precision.beside.alone")
        if results.acc_check is not None:
            self._sentence(sentence_of(alone_told(results.acc_check)), "precision_msprobe_alone", "strong")
        if devices:
            self._sentence(t("precision.beside.alone_ready", device=devices[0].upper()))
        else:
            self._sentence(t("precision.beside.alone_hint"), "precision_msprobe_no_card")

    def _head(self, key: str, last: QPushButton | None = None) -> None:
        if self._parts.count():
            self._parts.addSpacing(4)
            self._parts.addWidget(line())
        row = QHBoxLayout()
        row.addWidget(label(key, "strong"))
        row.addStretch(1)
        if last is not None:
            row.addWidget(last)
        self._parts.addLayout(row)

    def _sentence(self, text: str, name: str = "", role: str = "") -> None:
        sentence = Sentence()
        sentence.setObjectName(name)
        if role:
            sentence.setProperty("role", "")
        sentence.setText(text)
        self._parts.addWidget(sentence)


def counts_text(tables: TableSummary) -> str:
    none, passed, warnings, errors = (format_count(count) for count in tables.counts)
    return t("precision.beside.counts", passed=passed, warnings=warnings, errors=errors, none=none, file=tables.name)


def agreement_text(comparison: Comparison, row: TableRow | None) -> str:
    """Return 'msprobe names …; ours …', and why they may differ."""
    first = comparison.first
    if row is None:
        return t("precision.beside.only_ours", ours=plain_name(first.name)) if first else t("precision.beside.all_pass")
    msprobe_call = call_of_tensor(comparison, row.target)
    name = plain_name(comparison.names[msprobe_call]) if msprobe_call >= 0 else row.target
    if first is None:
        return t("precision.beside.only_theirs", theirs=name)
    if msprobe_call < 0:
        return t("precision.beside.unknown", theirs=name, ours=plain_name(first.name))
    if msprobe_call == first.call or comparison.names[msprobe_call] == first.name:
        return t("precision.beside.same", theirs=name)
    key = "precision.beside.later" if msprobe_call > first.call else "precision.beside.earlier"
    return t(key, theirs=name, ours=plain_name(first.name))


def call_of_tensor(comparison: Comparison, tensor: str) -> int:
    """Return the call that a tensor's name begins with, -1 where there is none.

    'Functional.linear.0.forward.input.0' belongs to 'Functional.linear.0.forward'."""
    indices = {name: index for index, name in reversed(tuple(enumerate(comparison.names)))}
    while tensor:
        if tensor in indices:
            return indices[tensor]
        tensor = tensor.rpartition(".")[0]
    return -1
