"""The call and row of a comparison that plot, table, tree and page show as selected."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class Selection(QObject):
    """`call` and `row` are indices into the comparison, -1 for none. `changed` is emitted once for both."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.call, self.row = -1, -1

    def select(self, call: int, row: int = -1) -> None:
        """Select a call and a row; nothing is emitted where nothing changes, so that whoever follows may set it
        again."""
        if (call, row) != (self.call, self.row):
            self.call, self.row = call, row
            self.changed.emit()
