"""The modules of an earlier capture, to tick those that are to be captured."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QTreeView, QWidget

from studio.errors import StudioError
from studio.texts import t
from ui.precision.capture.target_tree import TargetNodes, TargetTreeModel, read_target_nodes
from ui.services.background import run_in_background
from ui.widgets.basic import Sentence, label, primary_button
from ui.widgets.localized import localize
from ui.widgets.popover import Popover

if TYPE_CHECKING:
    from collections.abc import Callable

    from ui.precision.captures import Capture

WIDTH, HEIGHT = 560, 340
MAX_EXPANDED = 200


class TargetSheet(Popover):
    """Calls `take_targets` with the targets that were ticked."""

    def __init__(
        self, owner: QWidget, capture: Capture, chosen: tuple[str, ...], then: Callable[[tuple[str, ...]], object]
    ) -> None:
        super().__init__(owner, "precision_targets", WIDTH)
        self._chosen, self._take_targets = chosen, then
        self.model: TargetTreeModel | None = None
        self.tree = QTreeView()
        self.tree.setObjectName("precision_target_tree")
        self.tree.setUniformRowHeights(True)
        self.tree.setFixedHeight(HEIGHT)
        localize(self.tree.setAccessibleName, "precision.more.targets_title")
        self.status = Sentence("precision.more.reading")
        self.take = primary_button("precision.more.take_targets", "precision_take_targets")
        self.take.clicked.connect(self._take)
        self.take.setEnabled(False)
        last = QHBoxLayout()
        last.addWidget(self.status, 1)
        last.addWidget(self.take)
        self.column.addWidget(label("precision.more.targets_title", "title"))
        self.column.addWidget(Sentence("precision.more.targets_text"))
        self.column.addWidget(self.tree)
        self.column.addLayout(last)
        run_in_background(self, partial(read_target_nodes, capture.dumps[0]), self._read)

    def _read(self, nodes: TargetNodes | StudioError) -> None:
        if isinstance(nodes, StudioError):
            self.status.setText(str(nodes))
            return
        self.model = TargetTreeModel(nodes, self._chosen)
        self.model.setParent(self.tree)
        self.tree.setModel(self.model)
        self.tree.setColumnWidth(0, WIDTH * 3 // 5)
        if len(nodes.names) <= MAX_EXPANDED:
            self.tree.expandAll()
        self.model.ticked.connect(self._show)
        self.take.setEnabled(True)
        self.tree.setFocus()
        self._show()

    def _show(self) -> None:
        assert self.model is not None
        count = len(self.model.targets())
        self.status.setText(t("precision.more.ticked", count=count) if count else t("precision.more.ticked_none"))

    def _take(self) -> None:
        assert self.model is not None
        targets = self.model.targets()
        self.close()
        self._take_targets(targets)
