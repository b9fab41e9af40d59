"""The module tree that msprobe's graph_visualize wrote, read level by level, and the tensors of a node."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QPlainTextEdit, QTreeView

from backends.precision.msprobe import visdb
from studio.errors import StudioError
from studio.texts import t
from ui.precision.elided_combo import ElidedComboBox
from ui.services.background import run_in_background
from ui.widgets import theme
from ui.widgets.basic import (
    Elided,
    Sentence,
    label,
    mono_font,
)
from ui.widgets.localized import localize
from ui.widgets.plain_tip import plain_tip
from ui.widgets.popover import Popover

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from PySide6.QtWidgets import QWidget

    from ui.precision.msprobe.results import GraphFile

    Index = QModelIndex | QPersistentModelIndex
    Tree = tuple[Path, int, int, str]
    Levels = tuple[tuple[str, tuple[visdb.GraphNode, ...]], ...]

WIDTH, TREE, TENSORS = 780, 300, 150
NAME, CHILDREN = Qt.ItemDataRole.UserRole + 1, Qt.ItemDataRole.UserRole + 2
RANGES = ((0.3, "precision.beside.pass", "good"), (0.6, "precision.beside.warning", "warning"))
VERDICT = ("Result", "Err_message")
LEFT_OUT = (*VERDICT, "type", "data_name", "requires_grad", "Requires_grad Consistent")


def read_levels(path: Path, step: int, rank: int, side: str, name: str) -> Levels | StudioError:
    """Return each node on the path to `name` with its children; the roots alone where `name` is empty."""
    try:
        above = visdb.ancestors(path, step, rank, side, name) if name else ()
        return tuple((parent, visdb.children(path, step, rank, side, parent)) for parent in ("", *above))
    except StudioError as error:
        return error


def node_verdict(precision: float | None) -> tuple[str, str]:
    """Return a text key and a colour, by the ranges that msprobe writes into its databases (tb_config.node_colors)."""
    if precision is None:
        return "precision.beside.unmatched", "dim"
    verdict = next(((key, color) for limit, key, color in RANGES if precision < limit), None)
    return verdict or ("precision.beside.error", "bad")


class GraphModel(QStandardItemModel):
    """`located` carries the index of the requested node, invalid where there is none; `failed` carries a
    StudioError."""

    located = Signal(QModelIndex)
    failed = Signal(object)

    def __init__(self, path: Path, step: int, rank: int, side: str, name: str) -> None:
        super().__init__(0, 2)
        self.setHorizontalHeaderLabels([t("precision.beside.column_node"), t("precision.beside.column_verdict")])
        self._tree = (path, step, rank, side)
        self._requested: set[str] = set()
        self._items: dict[str, QStandardItem] = {}
        run_in_background(self, partial(read_levels, *self._tree, name), partial(self._show, name))

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:  # noqa: B008 - Qt's
        return not parent.isValid() or bool(parent.data(CHILDREN))

    def canFetchMore(self, parent: Index) -> bool:
        return bool(parent.isValid() and parent.data(CHILDREN) and parent.data(NAME) not in self._requested)

    def fetchMore(self, parent: Index) -> None:
        """Read a level off the UI thread, since it may have a hundred thousand nodes."""
        name = str(parent.data(NAME))
        self._requested.add(name)
        run_in_background(self, partial(_level, self._tree, name), partial(self._add, name))

    def _show(self, name: str, levels: Levels | StudioError) -> None:
        if isinstance(levels, StudioError):
            self.failed.emit(levels)
            return
        for parent, nodes in levels:
            if parent not in self._requested:
                self._requested.add(parent)
                self._add(parent, nodes)
        item = self._items.get(name)
        self.located.emit(self.indexFromItem(item) if item is not None else QModelIndex())

    def _add(self, parent: str, nodes: Sequence[visdb.GraphNode] | StudioError) -> None:
        if isinstance(nodes, StudioError):
            self.failed.emit(nodes)
            return
        above = self._items.get(parent) if parent else self.invisibleRootItem()
        if above is not None:
            for node in nodes:
                above.appendRow(self._row(node))

    def _row(self, node: visdb.GraphNode) -> list[QStandardItem]:
        name = QStandardItem(" ".join(node.name.split("\n")))
        name.setData(node.name, NAME)
        name.setData(node.children, CHILDREN)
        name.setToolTip(plain_tip(node.name))
        key, color = node_verdict(node.precision)
        verdict = QStandardItem(" · ".join(filter(None, (t(key), node.overflow))))
        verdict.setForeground(theme.color(color))
        for item in (name, verdict):
            item.setEditable(False)
        self._items.setdefault(node.name, name)
        return [name, verdict]


def _level(tree: Tree, name: str) -> Sequence[visdb.GraphNode] | StudioError:
    try:
        return visdb.children(*tree, name)
    except StudioError as error:
        return error


class GraphSheet(Popover):
    def __init__(self, owner: QWidget, graph: GraphFile) -> None:
        super().__init__(owner, "precision_msprobe_tree", WIDTH)
        self._graph = graph
        self._node = ""
        self.passes = ElidedComboBox("precision_msprobe_passes", "precision.beside.passes")
        self.sides = ElidedComboBox("precision_msprobe_side", "precision.beside.side")
        self.message = Sentence()
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
        localize(self.tree.setAccessibleName, "precision.beside.graph")
        self.tensors.setReadOnly(True)
        self.tensors.setFont(mono_font(11))
        self.tensors.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.tensors.setFixedHeight(TENSORS)
        localize(self.tensors.setAccessibleName, "precision.beside.tensor")
        file = Elided(Qt.TextElideMode.ElideMiddle, "hint")
        file.setText(str(self._graph.path))
        head = QHBoxLayout()
        head.addWidget(label("precision.beside.graph", "title"))
        head.addStretch(1)
        for box in (self.passes, self.sides):
            box.setFixedWidth(170)
            head.addWidget(box)
        self.column.addLayout(head)
        for widget in (file, self.tree, self.message, self.tensors):
            self.column.addWidget(widget)
        self.message.hide()

    def _fill(self) -> None:
        contents = self._graph.contents
        passes = [(step, rank) for step in contents.steps for rank in contents.ranks]
        at = (self._graph.step, self._graph.rank)
        names = [(t("precision.beside.tree_of", step=step, rank=rank), (step, rank)) for step, rank in passes]
        self.passes.show_entries(names, passes.index(at) if at in passes else 0)
        sides = {visdb.TARGET: "precision.start.target", visdb.GOLDEN: "precision.start.golden"}
        self.sides.show_entries([(t(sides[side]), side) for side in contents.sides], 0)
        self.passes.setVisible(len(passes) > 1)
        self.sides.setVisible(len(contents.sides) > 1)
        self.passes.currentIndexChanged.connect(self.show_tree)
        self.sides.currentIndexChanged.connect(self.show_tree)

    def show_tree(self) -> None:
        """Show the chosen tree, opened at msprobe's first error if it lies there."""
        graph, side = self._graph, self.sides.currentData() or visdb.TARGET
        step, rank = self.passes.currentData() or (graph.step, graph.rank)
        has_first = graph.first is not None and (step, rank, side) == (graph.step, graph.rank, visdb.TARGET)
        name = graph.first.name if has_first and graph.first is not None else ""
        self.tensors.setPlainText(t("precision.beside.nothing_below"))
        self._tree = (graph.path, step, rank, side)
        self.model = GraphModel(*self._tree, name)
        self.model.setParent(self.tree)
        self.model.located.connect(self._land)
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
        self._node = str(index.siblingAtColumn(0).data(NAME))
        run_in_background(self, partial(_details, self._tree, self._node), partial(self._show_details, self._node))

    def _show_details(self, name: str, details: str | StudioError) -> None:
        if name != self._node:
            return
        if isinstance(details, StudioError):
            self._fail(details)
        else:
            self.tensors.setPlainText(details)

    def _fail(self, error: StudioError) -> None:
        self.message.setText(str(error))
        self.message.show()


def _details(tree: Tree, name: str) -> str | StudioError:
    try:
        details = visdb.details(*tree, name)
    except StudioError as error:
        return error
    lines = [
        _line(key, tensor.removeprefix(f"{name}."), figures)
        for key, tensors in (("precision.beside.input", details.inputs), ("precision.beside.output", details.outputs))
        for tensor, figures in tensors.items()
    ]
    return "\n".join([name, *lines, "", *(" ".join(frame.split()) for frame in details.stack)])


def _line(key: str, tensor: str, figures: dict[str, Any]) -> str:
    """Return 'out 0 float32 [4, 6, 8] Max 2.1 …', in msprobe's words."""
    item = tensor.partition(".")[2] or tensor
    dtype = str(figures.get("dtype", "")).removeprefix("torch.")
    verdicts = (str(figures[name]) for name in VERDICT if figures.get(name) not in (None, "", "[]"))
    statistics = (f"{name} {value}" for name, value in figures.items() if name not in (*LEFT_OUT, "dtype", "shape"))
    return "  ".join((t(key, item=item), dtype, str(figures.get("shape", "")), *verdicts, *statistics))
