"""What is captured, ticked in the modules of an earlier capture."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QTreeView, QWidget

from studio.errors import StudioError
from studio.texts import t
from ui.asking import ask
from ui.popover import Popover
from ui.precision.target_tree import Nodes, TargetModel, read_nodes
from ui.say import say
from ui.widgets import Sentence, label, primary_button

if TYPE_CHECKING:
    from collections.abc import Callable

    from ui.precision.captures import Capture

WIDTH, HEIGHT = 560, 340
MOST_OPEN = 200


class TargetSheet(Popover):
    """`then` is given what was ticked."""

    def __init__(
        self, owner: QWidget, capture: Capture, chosen: tuple[str, ...], then: Callable[[tuple[str, ...]], object]
    ) -> None:
        super().__init__(owner, "precision_targets", WIDTH)
        self._chosen, self._then = chosen, then
        self.model: TargetModel | None = None
        self.tree = QTreeView()
        self.tree.setObjectName("precision_target_tree")
        self.tree.setUniformRowHeights(True)
        self.tree.setFixedHeight(HEIGHT)
        say(self.tree, "setAccessibleName", "precision.more.targets_title")
        self.said = Sentence("precision.more.reading")
        self.take = primary_button("precision.more.take_targets", "precision_take_targets")
        self.take.clicked.connect(self._take)
        self.take.setEnabled(False)
        last = QHBoxLayout()
        last.addWidget(self.said, 1)
        last.addWidget(self.take)
        self.column.addWidget(label("precision.more.targets_title", "title"))
        self.column.addWidget(Sentence("precision.more.targets_text"))
        self.column.addWidget(self.tree)
        self.column.addLayout(last)
        ask(self, partial(read_nodes, capture.places[0]), self._read)

    def _read(self, found: Nodes | StudioError) -> None:
        if isinstance(found, StudioError):
            self.said.setText(str(found))
            return
        self.model = TargetModel(found, self._chosen)
        self.model.setParent(self.tree)
        self.tree.setModel(self.model)
        self.tree.setColumnWidth(0, WIDTH * 3 // 5)
        if len(found.names) <= MOST_OPEN:
            self.tree.expandAll()
        self.model.ticked.connect(self._show)
        self.take.setEnabled(True)
        self.tree.setFocus()
        self._show()

    def _show(self) -> None:
        assert self.model is not None
        count = len(self.model.targets())
        self.said.setText(t("precision.more.ticked", count=count) if count else t("precision.more.ticked_none"))

    def _take(self) -> None:
        assert self.model is not None
        targets = self.model.targets()
        self.close()
        self._then(targets)
