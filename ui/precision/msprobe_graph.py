"""The module tree that msprobe's graph_visualize wrote, one level at a time, and the tensors of a node."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QPlainTextEdit, QTreeView

from backends.precision.msprobe import visdb
from studio.errors import StudioError
from studio.texts import t
from ui import theme
from ui.asking import ask
from ui.plain_text import plain_tip
from ui.popover import Popover
from ui.precision.place_box import PlaceBox
from ui.say import say
from ui.widgets import Elided, Sentence, label, mono_font

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from PySide6.QtWidgets import QWidget

    from ui.precision.msprobe_read import Graph

    Index = QModelIndex | QPersistentModelIndex
    Place = tuple[Path, int, int, str]
    Levels = tuple[tuple[str, tuple[visdb.Node, ...]], ...]

WIDTH, TREE, TENSORS = 780, 300, 150
NAME, CHILDREN = Qt.ItemDataRole.UserRole + 1, Qt.ItemDataRole.UserRole + 2
RANGES = ((0.3, "precision.beside.pass", "good"), (0.6, "precision.beside.warning", "warning"))
VERDICT = ("Result", "Err_message")
LEFT_OUT = (*VERDICT, "type", "data_name", "requires_grad", "Requires_grad Consistent")


def levels(path: Path, step: int, rank: int, side: str, name: str) -> Levels | StudioError:
    """Each node on the way to `name` with what is right below it; the roots alone without a name."""
    try:
        above = visdb.ancestors(path, step, rank, side, name) if name else ()
        return tuple((one, visdb.children(path, step, rank, side, one)) for one in ("", *above))
    except StudioError as error:
        return error


def verdict(precision: float | None) -> tuple[str, str]:
    """A key and a colour, by the ranges that msprobe writes into its databases (tb_config.node_colors)."""
    if precision is None:
        return "precision.beside.unmatched", "dim"
    found = next(((key, color) for limit, key, color in RANGES if precision < limit), None)
    return found or ("precision.beside.error", "bad")


class GraphModel(QStandardItemModel):
    """`shown`: the index of the node that was asked for, invalid where there is none. `failed`: a StudioError."""

    shown = Signal(QModelIndex)
    failed = Signal(object)

    def __init__(self, path: Path, step: int, rank: int, side: str, name: str) -> None:
        super().__init__(0, 2)
        self.setHorizontalHeaderLabels([t("precision.beside.column_node"), t("precision.beside.column_verdict")])
        self._place = (path, step, rank, side)
        self._asked: set[str] = set()
        self._items: dict[str, QStandardItem] = {}
        ask(self, partial(levels, *self._place, name), partial(self._show, name))

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:  # noqa: B008 - Qt's
        return not parent.isValid() or bool(parent.data(CHILDREN))

    def canFetchMore(self, parent: Index) -> bool:
        return bool(parent.isValid() and parent.data(CHILDREN) and parent.data(NAME) not in self._asked)

    def fetchMore(self, parent: Index) -> None:
        """Read off the UI thread: a level may have a hundred thousand nodes."""
        name = str(parent.data(NAME))
        self._asked.add(name)
        ask(self, partial(_level, self._place, name), partial(self._add, name))

    def _show(self, name: str, found: Levels | StudioError) -> None:
        if isinstance(found, StudioError):
            self.failed.emit(found)
            return
        for parent, nodes in found:
            if parent not in self._asked:
                self._asked.add(parent)
                self._add(parent, nodes)
        item = self._items.get(name)
        self.shown.emit(self.indexFromItem(item) if item is not None else QModelIndex())

    def _add(self, parent: str, nodes: Sequence[visdb.Node] | StudioError) -> None:
        if isinstance(nodes, StudioError):
            self.failed.emit(nodes)
            return
        above = self._items.get(parent) if parent else self.invisibleRootItem()
        if above is not None:
            for node in nodes:
                above.appendRow(self._row(node))

    def _row(self, node: visdb.Node) -> list[QStandardItem]:
        name = QStandardItem(" ".join(node.name.split("\n")))
        name.setData(node.name, NAME)
        name.setData(node.children, CHILDREN)
        name.setToolTip(plain_tip(node.name))
        key, color = verdict(node.precision)
        said = QStandardItem(" · ".join(filter(None, (t(key), node.overflow))))
        said.setForeground(theme.color(color))
        for item in (name, said):
            item.setEditable(False)
        self._items.setdefault(node.name, name)
        return [name, said]


def _level(place: Place, name: str) -> Sequence[visdb.Node] | StudioError:
    try:
        return visdb.children(*place, name)
    except StudioError as error:
        return error


class GraphSheet(Popover):
    def __init__(self, owner: QWidget, graph: Graph) -> None:
        super().__init__(owner, "precision_msprobe_tree", WIDTH)
        self._graph = graph
        self._wanted = ""
        self.passes = PlaceBox("precision_msprobe_passes", "precision.beside.passes")
        self.sides = PlaceBox("precision_msprobe_side", "precision.beside.side")
        self.said = Sentence()
        self.tensors = QPlainTextEdit()
        self.tensors.setObjectName("precision_msprobe_tensors")
        self._make()
        self._fill()
        self.show_tree()

    def _make(self) -> None:
        self.tree = QTreeView()
        self.tree.setObjectName("precision_msprobe_nodes")
        self.tree.setUniformRowHeights(True)
        self.tree.setFixedHeight(TREE)
        say(self.tree, "setAccessibleName", "precision.beside.graph")
        self.tensors.setReadOnly(True)
        self.tensors.setFont(mono_font(11))
        self.tensors.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.tensors.setFixedHeight(TENSORS)
        say(self.tensors, "setAccessibleName", "precision.beside.tensor")
        file = Elided(Qt.TextElideMode.ElideMiddle, "hint")
        file.setText(str(self._graph.path))
        head = QHBoxLayout()
        head.addWidget(label("precision.beside.graph", "title"))
        head.addStretch(1)
        for box in (self.passes, self.sides):
            box.setFixedWidth(170)
            head.addWidget(box)
        self.column.addLayout(head)
        for widget in (file, self.tree, self.said, self.tensors):
            self.column.addWidget(widget)
        self.said.hide()

    def _fill(self) -> None:
        held = self._graph.held
        passes = [(step, rank) for step in held.steps for rank in held.ranks]
        at = (self._graph.step, self._graph.rank)
        names = [(t("precision.beside.tree_of", step=step, rank=rank), (step, rank)) for step, rank in passes]
        self.passes.show_entries(names, passes.index(at) if at in passes else 0)
        sides = {visdb.TARGET: "precision.start.target", visdb.GOLDEN: "precision.start.golden"}
        self.sides.show_entries([(t(sides[side]), side) for side in held.sides], 0)
        self.passes.setVisible(len(passes) > 1)
        self.sides.setVisible(len(held.sides) > 1)
        self.passes.currentIndexChanged.connect(self.show_tree)
        self.sides.currentIndexChanged.connect(self.show_tree)

    def show_tree(self) -> None:
        """Opened at msprobe's first error, where that lies in what is chosen."""
        graph, side = self._graph, self.sides.currentData() or visdb.TARGET
        step, rank = self.passes.currentData() or (graph.step, graph.rank)
        is_there = graph.first is not None and (step, rank, side) == (graph.step, graph.rank, visdb.TARGET)
        name = graph.first.name if is_there and graph.first is not None else ""
        self.tensors.setPlainText(t("precision.beside.nothing_below"))
        self._place = (graph.path, step, rank, side)
        self.model = GraphModel(*self._place, name)
        self.model.setParent(self.tree)
        self.model.shown.connect(self._land)
        self.model.failed.connect(self._fail)
        self.tree.setModel(self.model)
        self.tree.header().setStretchLastSection(False)
        self.tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.tree.selectionModel().currentChanged.connect(self._choose)

    def _land(self, index: QModelIndex) -> None:
        if index.isValid():
            self.tree.scrollTo(index)
            self.tree.setCurrentIndex(index)
        else:
            self.tree.expand(self.model.index(0, 0))
        self.tree.setFocus()

    def _choose(self, index: QModelIndex, _before: QModelIndex) -> None:
        self._wanted = str(index.siblingAtColumn(0).data(NAME))
        ask(self, partial(_details, self._place, self._wanted), partial(self._show_details, self._wanted))

    def _show_details(self, name: str, found: str | StudioError) -> None:
        if name != self._wanted:
            return
        if isinstance(found, StudioError):
            self._fail(found)
        else:
            self.tensors.setPlainText(found)

    def _fail(self, error: StudioError) -> None:
        self.said.setText(str(error))
        self.said.show()


def _details(place: Place, name: str) -> str | StudioError:
    try:
        found = visdb.details(*place, name)
    except StudioError as error:
        return error
    lines = [
        _line(key, tensor.removeprefix(f"{name}."), figures)
        for key, tensors in (("precision.beside.input", found.inputs), ("precision.beside.output", found.outputs))
        for tensor, figures in tensors.items()
    ]
    return "\n".join([name, *lines, "", *(" ".join(frame.split()) for frame in found.stack)])


def _line(key: str, tensor: str, figures: dict[str, Any]) -> str:
    """'out 0  float32  [4, 6, 8]  Max 2.1 …', in msprobe's words."""
    item = tensor.partition(".")[2] or tensor
    dtype = str(figures.get("dtype", "")).removeprefix("torch.")
    said = (str(figures[name]) for name in VERDICT if figures.get(name) not in (None, "", "[]"))
    shown = (f"{name} {value}" for name, value in figures.items() if name not in (*LEFT_OUT, "dtype", "shape"))
    return "  ".join((t(key, item=item), dtype, str(figures.get("shape", "")), *said, *shown))
