"""The sheet of keys and mouse gestures, made from the table that the view obeys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QGridLayout, QHBoxLayout

from studio.texts import t
from ui.timeline.view.keys import ELSEWHERE, GESTURES, SHORTCUTS
from ui.widgets.basic import Chip, label
from ui.widgets.popover import Popover

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtWidgets import QWidget

WIDTH = 860


class KeysSheet(Popover):
    """Two columns with independent rows: where one wraps, the other has no gap."""

    def __init__(self, owner: QWidget) -> None:
        super().__init__(owner, "timeline_keys", min(WIDTH, owner.window().width() - 32))
        self.column.addWidget(label("timeline.tools.keys", "title"))
        rows = [(t(shortcut.text), keys_text(shortcut.keys)) for shortcut in (*SHORTCUTS, *ELSEWHERE)]
        rows += [(t(gesture.text), (t(gesture.how),)) for gesture in GESTURES]
        half = (len(rows) + 1) // 2
        halves = QHBoxLayout()
        halves.setSpacing(24)
        for part in (rows[:half], rows[half:]):
            halves.addLayout(_listed(part), 1)
        self.column.addLayout(halves)


def _listed(rows: Iterable[tuple[str, tuple[str, ...]]]) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(12)
    grid.setVerticalSpacing(2)
    grid.setColumnStretch(0, 1)
    for row, (does, keys) in enumerate(rows):
        what = label(role="hint")
        what.setText(does)
        what.setWordWrap(True)
        grid.addWidget(what, row, 0, Qt.AlignmentFlag.AlignVCenter)
        grid.addLayout(_boxed(keys), row, 1)
    grid.setRowStretch(grid.rowCount(), 1)
    return grid


def _boxed(keys: Iterable[str]) -> QHBoxLayout:
    """Draw each key in a box of its own: a comma would look like a separator."""
    line = QHBoxLayout()
    line.setSpacing(4)
    line.addStretch(1)
    for key in keys:
        box = Chip()
        box.show_state(key)
        line.addWidget(box)
    return line


def keys_text(keys: Iterable[str]) -> tuple[str, ...]:
    return tuple(QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText) for key in keys)
