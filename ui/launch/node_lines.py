"""The line to run on each node of a training on several. The studio starts nothing on another host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from backends.launch.nodes import NodesSpec, headed, lines
from studio import schema
from ui.copy_card import CopyCard
from ui.widgets import Sentence

if TYPE_CHECKING:
    from backends.launch.spec import LaunchSpec
    from ui.pages.launch import LaunchPage


class NodeLines(QObject):
    """A card under the others; there only while more than one node is asked for."""

    def __init__(self, page: LaunchPage) -> None:
        super().__init__(page)
        self.card = CopyCard("launch.nodes_title", ("launch.nodes_tab",), "node_lines")
        self.card.body.insertWidget(1, Sentence("launch.nodes_hint"))
        self.card.hide()
        page.add_side(self.card)
        page.form.spec_changed.connect(self.show_spec)
        self.show_spec(page.form.spec())

    def show_spec(self, spec: LaunchSpec) -> None:
        asked = spec.parallel.parallel != "none" and spec.parallel.nodes > 1
        self.card.setVisible(asked)
        if asked:
            wrong = schema.problems(NodesSpec(**vars(spec)))
            self.card.show_wrong(bool(wrong))
            if not wrong:
                self.card.show_texts(["\n\n".join(headed(lines(spec, None)))])
