"""Whose line called it: the frames of the stack, the user's own before those of libraries."""

from __future__ import annotations

from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget

from backends.precision.dump.names import LIBRARIES, frames
from studio.texts import t
from ui.page_scroll import empty
from ui.plain_text import plain_tip
from ui.theme import mono_font
from ui.widgets import Elided, Sentence, label

if TYPE_CHECKING:
    from backends.precision.compare.comparison import Comparison
    from backends.precision.dump.names import Frame

MOST = 8


class OperatorStack(QWidget):
    """`source_wanted`: a file and a line to open."""

    source_wanted = Signal(str, int)

    def __init__(self) -> None:
        super().__init__()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(2)
        self.frames: tuple[Frame, ...] = ()

    def show_call(self, comparison: Comparison, call: int) -> None:
        """The target's stack; where it has none, the golden side's, and says so."""
        empty(self._column)
        target, golden = int(comparison.stack[call]), int(comparison.golden_stack[call])
        stack = target if target >= 0 else golden
        found = frames(comparison.stacks[stack]) if stack >= 0 else ()
        own = tuple(frame for frame in found if not LIBRARIES.search(frame.file))
        self.frames = (own or found)[:MOST]
        if not self.frames:
            self._column.addWidget(Sentence("precision.operator.no_stack"))
            return
        if target < 0:
            self._column.addWidget(Sentence("precision.operator.golden_stack"))
        for number, frame in enumerate(self.frames):
            self._add(frame, number)
        if len(found) > len(self.frames):
            more = label(role="hint")
            more.setText(t("precision.operator.more_frames", n=len(found) - len(self.frames)))
            self._column.addWidget(more)

    def _add(self, frame: Frame, number: int) -> None:
        place = QPushButton(f"{PurePath(frame.file).name}:{frame.number}  {frame.function}".replace("&", "&&"))
        place.setObjectName(f"precision_frame_{number}")
        place.setProperty("role", "text")
        place.setStyleSheet("QPushButton { text-align: left; padding: 1px 2px; }")
        place.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        place.setToolTip(plain_tip(t("precision.operator.open_source", path=frame.file, number=frame.number)))
        place.clicked.connect(partial(self.source_wanted.emit, frame.file, frame.number))
        code = Elided(role="dim")
        code.setFont(mono_font(12))
        code.setText(frame.code)
        code.setContentsMargins(4, 0, 0, 4)
        self._column.addWidget(place)
        if frame.code:
            self._column.addWidget(code)
