"""The captures of the project's runs: what each holds, with buttons that make it a side of a comparison."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ui.precision.captures import capture_name, describe_capture, describe_origin
from ui.widgets.basic import (
    Card,
    Elided,
    Sentence,
    button,
    line,
    text_button,
)
from ui.widgets.localized import localize
from ui.widgets.page_scroll import empty

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ui.precision.captures import Capture

MAX_ROWS = 6


class CapturesCard(Card):
    """`side_chosen` carries 'target' or 'golden' and the capture."""

    side_chosen = Signal(str, object)

    def __init__(self) -> None:
        super().__init__("precision.more.captured")
        self.setObjectName("precision_captured")
        self._captures: Sequence[Capture] = ()
        self._sides: dict[Path, str] = {}
        self._none = Sentence("precision.more.captured_none")
        self._more = Sentence()
        self._rows = QVBoxLayout()
        self._rows.setSpacing(8)
        self.body.addWidget(self._none)
        self.body.addLayout(self._rows)
        self.body.addWidget(self._more)
        self.show_captures(())

    def show_captures(self, captures: Sequence[Capture]) -> None:
        self._captures = captures
        self.retranslate()

    def show_sides(self, sides: dict[Path, str]) -> None:
        """Name the side that a capture is chosen for, 'target' or 'golden' by its path."""
        if sides != self._sides:
            self._sides = sides
            self.retranslate()

    def retranslate(self) -> None:
        empty(self._rows)
        for number, capture in enumerate(self._captures[:MAX_ROWS]):
            if number:
                self._rows.addWidget(line())
            self._rows.addWidget(self._row(number, capture))
        left = len(self._captures) - MAX_ROWS
        self._none.setVisible(not self._captures)
        self._more.setVisible(left > 0)
        localize(self._more.setText, "precision.more.captured_more", count=left)

    def _row(self, number: int, capture: Capture) -> QWidget:
        name, words = Elided(role="strong"), Elided(role="hint")
        origin = Elided(Qt.TextElideMode.ElideMiddle, role="hint")  # both ends of its folder tell it from others
        name.setText(capture_name(capture))
        words.setText(describe_capture(capture))
        origin.setObjectName(f"precision_origin_{number}")
        origin.setText(describe_origin(capture, self._sides.get(capture.path, "")))
        entry = QWidget()
        column = QVBoxLayout(entry)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(1)
        column.addWidget(name)
        column.addWidget(words)
        column.addWidget(origin)
        column.addSpacing(5)
        column.addLayout(self._buttons(number, capture))
        return entry

    def _buttons(self, number: int, capture: Capture) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        for side, key in (("target", "precision.more.as_target"), ("golden", "precision.more.as_golden")):
            use = button(key, f"precision_as_{side}_{number}")
            use.clicked.connect(partial(self.side_chosen.emit, side, capture))
            row.addWidget(use)
        row.addStretch(1)
        folder = text_button("precision.more.open_folder", f"precision_open_{number}")
        folder.clicked.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(capture.path))))
        row.addWidget(folder)
        return row
