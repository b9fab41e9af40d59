"""The module tree of both sides, linked with the selection; calls can be matched by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QHBoxLayout, QHeaderView, QMenu, QTableView, QVBoxLayout, QWidget

from backends.precision.compare.comparison import EXTRA, MISSING
from studio.texts import t
from ui.precision.row_text import golden_name
from ui.precision.tables.tree_delegate import HEIGHT, TreeDelegate, arrow_rect
from ui.precision.tables.tree_model import (
    DEPTH,
    ERROR_COLUMN,
    GOLDEN,
    STATE,
    TARGET,
    VERDICT,
    TreeModel,
)
from ui.precision.tables.tree_nodes import CallNodes
from ui.widgets import theme
from ui.widgets.basic import Elided, button
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from PySide6.QtCore import QPoint
    from PySide6.QtGui import QContextMenuEvent, QResizeEvent

    from backends.precision.compare.comparison import Comparison
    from ui.precision.comparison.selection import Selection

MAX_EXPANDED = 40
TARGETS_SHARE = 0.6


@dataclass(frozen=True, kw_only=True)
class CallMatch:
    """Two calls that the user declares the same: their names, and their pass, of which `number` is the index."""

    target: str
    golden: str
    number: int
    step: int
    rank: int


class TreeView(QWidget):
    """`match_corrected` carries a CallMatch."""

    match_corrected = Signal(object)

    def __init__(self, selection: Selection) -> None:
        super().__init__()
        self._selection = selection
        self.model = TreeModel()
        self.view = _Tree(self.model)
        self.view.menu_requested.connect(self._show_menu)
        self.match = button("precision.view.match", "precision_match")
        self.match.clicked.connect(self._match)
        localize(self.match.setToolTip, "precision.view.match_hint")
        self._hint = Elided(role="hint")
        localize(self._hint.setText, "precision.view.match_hint")
        foot = QHBoxLayout()
        foot.setContentsMargins(12, 0, 10, 6)
        foot.addWidget(self._hint, 1)
        foot.addWidget(self.match)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 0, 1, 1)
        column.setSpacing(6)
        column.addWidget(self.view, 1)
        column.addLayout(foot)
        self._is_following = False
        self.view.selectionModel().selectionChanged.connect(self._select_call)
        selection.changed.connect(self._follow)
        theme.notifier().changed.connect(self.view.viewport().update)

    def show_comparison(self, comparison: Comparison) -> None:
        nodes = CallNodes(comparison)
        self.model.show_comparison(comparison, nodes)
        for row in reversed(range(len(nodes.visible))):
            if nodes.child_count(int(nodes.visible[row])) <= MAX_EXPANDED or len(nodes.visible) == 1:
                self.model.set_open(row, True)
        self._show_match()
        self._follow()

    def selected_nodes(self) -> list[int]:
        return [self.model.node(index.row()) for index in self.view.selectionModel().selectedRows()]

    def selected_match(self) -> CallMatch | None:
        """Return the match of two selected rows, of which one exists only on the target side and the other only on the
        golden side."""
        nodes, comparison = self.selected_nodes(), self.model.comparison
        if comparison is None or len(nodes) != 2 or max(nodes) >= len(comparison.names):
            return None
        verdicts = {int(comparison.call_verdict[node]): node for node in nodes}
        numbers = {
            max(number for number, each in enumerate(comparison.passes) if each.first_call <= node) for node in nodes
        }
        if verdicts.keys() != {MISSING, EXTRA} or len(numbers) > 1:
            return None
        number = numbers.pop()
        own_pass = comparison.passes[number]
        return CallMatch(
            target=comparison.names[verdicts[EXTRA]],
            golden=golden_name(comparison, verdicts[MISSING]),
            number=number,
            step=own_pass.step,
            rank=own_pass.rank,
        )

    def _select_call(self) -> None:
        self._show_match()
        nodes = self.selected_nodes()
        if not self._is_following and len(nodes) == 1 and self.model.nodes and nodes[0] < self.model.nodes.calls:
            self._selection.select(nodes[0])

    def _follow(self) -> None:
        call = self._selection.call
        if self.model.nodes is None or call < 0 or self.selected_nodes() == [call]:
            return
        self._is_following = True
        row = self.model.reveal(call)
        if row >= 0:
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
            self.view.selectionModel().setCurrentIndex(self.model.index(row, TARGET), flags)
            index, hint = self.model.index(row, TARGET), QAbstractItemView.ScrollHint
            is_visible = self.view.viewport().rect().contains(self.view.visualRect(index).center())
            self.view.scrollTo(index, hint.EnsureVisible if is_visible else hint.PositionAtCenter)
        self._is_following = False

    def _show_match(self) -> None:
        self.match.setEnabled(self.selected_match() is not None)

    def _match(self) -> None:
        if (match := self.selected_match()) is not None:
            self.match_corrected.emit(match)

    def _show_menu(self, position: QPoint) -> None:
        menu = QMenu(self.view)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        action = menu.addAction(t("precision.view.match"))
        action.setEnabled(self.selected_match() is not None)
        action.triggered.connect(self._match)
        menu.popup(position)

    def retranslate(self) -> None:
        self.model.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, VERDICT)
        self.view.viewport().update()


class _Tree(QTableView):
    """A table whose first column opens and closes: by its arrow, a double click, Left and Right."""

    menu_requested = Signal(object)

    def __init__(self, model: TreeModel) -> None:
        super().__init__()
        self._model = model
        self.setObjectName("precision_tree")
        self.setModel(model)
        self.setItemDelegate(TreeDelegate(self))
        self.setMouseTracking(True)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setStyleSheet("QTableView, QTableView:focus { border: none; border-radius: 0; }")
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(HEIGHT)
        self._lay_out_head()
        self.doubleClicked.connect(lambda index: self._toggle(index.row()))
        localize(self.setAccessibleName, "precision.view.tree")

    def _lay_out_head(self) -> None:
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        head.setSectionsClickable(False)
        head.setMinimumSectionSize(60)
        for column, width in ((ERROR_COLUMN, 84), (VERDICT, 128)):
            head.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
            head.resizeSection(column, width)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the target's column more room, since its names are indented."""
        super().resizeEvent(event)
        head, room = self.horizontalHeader(), self.viewport().width()
        names = room - head.sectionSize(ERROR_COLUMN) - head.sectionSize(VERDICT)
        head.resizeSection(TARGET, max(120, round(names * TARGETS_SHARE)))
        head.resizeSection(GOLDEN, max(100, names - head.sectionSize(TARGET)))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        if index.isValid() and index.column() == TARGET and index.data(STATE) != "leaf":
            arrow = arrow_rect(self.visualRect(index), index.data(DEPTH))
            if arrow.contains(event.position().toPoint()):
                self._toggle(index.row())
                return
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.currentIndex().row()
        if row >= 0 and event.key() == Qt.Key.Key_Right and self._state(row) == "closed":
            self._model.set_open(row, True)
        elif row >= 0 and event.key() == Qt.Key.Key_Left and self._state(row) == "open":
            self._model.set_open(row, False)
        elif row >= 0 and event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._go(self._above(row) if event.key() == Qt.Key.Key_Left else row)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.menu_requested.emit(event.globalPos())

    def _state(self, row: int) -> str:
        return str(self._model.index(row, TARGET).data(STATE))

    def _above(self, row: int) -> int:
        nodes = self._model.nodes
        assert nodes is not None
        parent = int(nodes.parents[self._model.node(row)])
        return nodes.row_of(parent) if parent >= 0 else row

    def _go(self, row: int) -> None:
        if row >= 0:
            self.setCurrentIndex(self._model.index(row, TARGET))

    def _toggle(self, row: int) -> None:
        state = self._state(row)
        if state != "leaf":
            self._model.set_open(row, state == "closed")

    def event(self, event: QEvent) -> bool:
        """Keep Left and Right for the tree: no shortcut may take them."""
        is_key = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride
        if is_key and Qt.Key(event.key()) in (Qt.Key.Key_Left, Qt.Key.Key_Right):  # type: ignore[attr-defined]
            event.accept()
            return True
        return super().event(event)
