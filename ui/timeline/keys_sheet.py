"""What the keys and the mouse do in the timeline, made from the table that the view obeys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QGridLayout

from studio.texts import t
from ui.popover import Popover
from ui.timeline.keys import GESTURES, SHORTCUTS
from ui.widgets import label

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtWidgets import QWidget

WIDTH = 860


class KeysSheet(Popover):
    def __init__(self, owner: QWidget) -> None:
        super().__init__(owner, "timeline_keys", min(WIDTH, owner.window().width() - 32))
        self.column.addWidget(label("timeline.tools.keys", "title"))
        rows = [(t(one.text), keys_text(one.keys)) for one in SHORTCUTS]
        rows += [(t(one.text), t(one.how)) for one in GESTURES]
        half = (len(rows) + 1) // 2
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(3)
        grid.setColumnMinimumWidth(2, 8)
        for column, part in ((0, rows[:half]), (3, rows[half:])):
            self._fill(grid, column, part)
            grid.setColumnStretch(column, 1)
        self.column.addLayout(grid)

    @staticmethod
    def _fill(grid: QGridLayout, column: int, rows: Iterable[tuple[str, str]]) -> None:
        for row, (does, keys) in enumerate(rows):
            what, how = label(role="hint"), label(role="hint")
            what.setText(does)
            what.setWordWrap(True)
            how.setText(keys)
            grid.addWidget(what, row, column, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(how, row, column + 1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)


def keys_text(keys: Iterable[str]) -> str:
    native = QKeySequence.SequenceFormat.NativeText
    return ", ".join(QKeySequence(key).toString(native) for key in keys)
