"""What msprobe itself says of the dumps that are compared, beside ours: a sheet below its button."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLayout, QScrollArea, QVBoxLayout, QWidget

from backends.precision.acc.work import told as alone_told
from backends.precision.overflow.work import told as overflow_told
from studio.events import Finding
from studio.texts import t
from ui.popover import Popover
from ui.precision.msprobe_said import counts, held_against
from ui.precision.told_bar import said_of
from ui.widgets import Sentence, button, label, line

if TYPE_CHECKING:
    from PySide6.QtWidgets import QPushButton

    from backends.precision.compare.comparison import Comparison
    from ui.precision.msprobe_read import Graph, Read, Tables, Trend

WIDTH, HEIGHT = 580, 520
BAR = 14


class MsprobeSheet(Popover):
    """`overflow_wanted`: the target is to be looked through. `graph_wanted`, `trend_wanted`: a database is to be
    opened. Nothing stands in it for what is not there."""

    overflow_wanted = Signal()
    graph_wanted = Signal(object)
    trend_wanted = Signal(object)

    def __init__(self, owner: QWidget, comparison: Comparison, found: Read, cards: tuple[str, ...]) -> None:
        super().__init__(owner, "precision_msprobe_sheet", WIDTH)
        self._comparison = comparison
        self._parts = QVBoxLayout()
        self._parts.setSpacing(7)
        self.column.addWidget(label("precision.beside.title", "title"))
        self._add_scrolled()
        if found.tables is not None:
            self._add_tables(found.tables)
        self._add_overflow(found)
        for graph in found.graphs:
            self._add_graph(graph)
        for trend in found.trends:
            self._add_trend(trend)
        self._add_alone(found, cards)
        for problem in found.problems:
            self._sentence(str(problem))
        self._fit()

    def _add_scrolled(self) -> None:
        self._content = QWidget()
        self._content.setProperty("role", "clear")
        self._content.setLayout(self._parts)
        self._parts.setContentsMargins(0, 0, 0, 0)
        # Else sentences that wrap ask for the height that they would need in a narrow column.
        self._parts.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        self.area = QScrollArea()
        self.area.setObjectName("precision_msprobe_scroll")
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(self._content)
        self.column.addWidget(self.area)

    def _fit(self) -> None:
        """As high as it must be, up to where it scrolls."""
        margins = self.column.contentsMargins()
        room = WIDTH - margins.left() - margins.right() - BAR
        height = self._parts.totalHeightForWidth(room)
        self._content.setFixedSize(room, height)
        self.area.setFixedHeight(min(HEIGHT, height + 2))

    # Its parts

    def _add_tables(self, tables: Tables) -> None:
        self._head("precision.beside.compare")
        self._sentence(held_against(self._comparison, tables.first), "precision_msprobe_held", "strong")
        if tables.first is not None and tables.first.message:
            self._sentence(t("precision.beside.message", message=tables.first.message))
        self._sentence(counts(tables), "precision_msprobe_counts")

    def _add_overflow(self, found: Read) -> None:
        key = "precision.beside.check" if found.overflow is None else "precision.beside.check_again"
        self.check = button(key, "precision_overflow_check")
        self.check.clicked.connect(self._want_overflow)
        self._head("precision.beside.overflow", self.check)
        if found.overflow is None:
            self._sentence(t("precision.beside.overflow_text"))
            return
        for said in overflow_told(found.overflow):
            self._sentence(said_of(said), "precision_msprobe_overflow", "strong" if isinstance(said, Finding) else "")

    def _want_overflow(self) -> None:
        self.close()
        self.overflow_wanted.emit()

    def _add_graph(self, graph: Graph) -> None:
        opened = button("precision.beside.open_tree", "precision_open_graph")
        opened.clicked.connect(partial(self._open, self.graph_wanted, graph))
        self._head("precision.beside.graph", opened)
        if len(graph.held.sides) < 2:
            self._sentence(t("precision.beside.graph_built"))
        elif graph.first is None:
            self._sentence(t("precision.beside.graph_none"))
        else:
            name, where = graph.first.name, {"step": graph.step, "rank": graph.rank}
            said = t("precision.beside.graph_first", name=name, **where)
            self._sentence(said, "precision_msprobe_graph", "strong")
        steps, ranks = (", ".join(map(str, numbers)) for numbers in (graph.held.steps, graph.held.ranks))
        self._sentence(t("precision.beside.graph_holds", file=graph.path.name, steps=steps, ranks=ranks))

    def _add_trend(self, trend: Trend) -> None:
        opened = button("precision.beside.open_trend", "precision_open_trend")
        opened.clicked.connect(partial(self._open, self.trend_wanted, trend))
        self._head("precision.beside.trend", opened)
        begin, end = trend.held.steps
        said = {"file": trend.path.name, "n": len(trend.held.targets), "begin": begin, "end": end}
        self._sentence(t("precision.beside.trend_holds", **said))

    def _open(self, signal: object, what: Graph | Trend, _checked: bool = False) -> None:
        self.close()
        signal.emit(what)  # type: ignore[attr-defined]

    def _add_alone(self, found: Read, cards: tuple[str, ...]) -> None:
        self._head("precision.beside.alone")
        if found.alone is not None:
            self._sentence(said_of(alone_told(found.alone)), "precision_msprobe_alone", "strong")
        if cards:
            self._sentence(t("precision.beside.alone_ready", device=cards[0].upper()))
        else:
            self._sentence(t("precision.beside.alone_hint"), "precision_msprobe_no_card")

    # What they are made of

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
        made = Sentence()
        made.setObjectName(name)
        if role:
            made.setProperty("role", "")
        made.setText(text)
        self._parts.addWidget(made)
