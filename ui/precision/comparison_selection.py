"""What is looked at in a comparison: one call, and one of its rows. Plot, table, tree and page share it."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class Selection(QObject):
    """`call` and `row`: indices into the comparison, -1 without. `changed` is told once for both."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.call, self.row = -1, -1

    def select(self, call: int, row: int = -1) -> None:
        """Nothing is told where nothing changes: whoever shows a selection may set it again."""
        if (call, row) != (self.call, self.row):
            self.call, self.row = call, row
            self.changed.emit()
