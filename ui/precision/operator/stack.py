"""The Python stack of a call: the user's own frames, or those of libraries where there are no others."""

from __future__ import annotations

from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget

from backends.precision.dump.names import LIBRARIES, frames
from studio.texts import t
from ui.widgets.basic import Elided, Sentence, label
from ui.widgets.page_scroll import empty
from ui.widgets.plain_tip import plain_tip
from ui.widgets.theme import mono_font

if TYPE_CHECKING:
    from backends.precision.compare.comparison import Comparison
    from backends.precision.dump.names import Frame

MAX_FRAMES = 8


class CallStack(QWidget):
    """`source_requested` carries a file and a line to open."""

    source_requested = Signal(str, int)

    def __init__(self) -> None:
        super().__init__()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(2)
        self.frames: tuple[Frame, ...] = ()

    def show_call(self, comparison: Comparison, call: int) -> None:
        """Show the target's stack, or the golden side's with a remark where the target has none."""
        empty(self._column)
        target, golden = int(comparison.stack[call]), int(comparison.golden_stack[call])
        stack = target if target >= 0 else golden
        all_frames = frames(comparison.stacks[stack]) if stack >= 0 else ()
        own = tuple(frame for frame in all_frames if not LIBRARIES.search(frame.file))
        self.frames = (own or all_frames)[:MAX_FRAMES]
        if not self.frames:
            self._column.addWidget(Sentence("precision.operator.no_stack"))
            return
        if target < 0:
            self._column.addWidget(Sentence("precision.operator.golden_stack"))
        for number, frame in enumerate(self.frames):
            self._add(frame, number)
        if len(all_frames) > len(self.frames):
            more = label(role="hint")
            more.setText(t("precision.operator.more_frames", n=len(all_frames) - len(self.frames)))
            self._column.addWidget(more)

    def _add(self, frame: Frame, number: int) -> None:
        link = QPushButton(f"{PurePath(frame.file).name}:{frame.number}  {frame.function}".replace("&", "&&"))
        link.setObjectName(f"precision_frame_{number}")
        link.setProperty("role", "text")
        link.setStyleSheet("QPushButton { text-align: left; padding: 1px 2px; }")
        link.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        link.setToolTip(plain_tip(t("precision.operator.open_source", path=frame.file, number=frame.number)))
        link.clicked.connect(partial(self.source_requested.emit, frame.file, frame.number))
        code = Elided(role="dim")
        code.setFont(mono_font(12))
        code.setText(frame.code)
        code.setContentsMargins(4, 0, 0, 4)
        self._column.addWidget(link)
        if frame.code:
            self._column.addWidget(code)
