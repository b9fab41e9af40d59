"""The call stack of a slice, innermost frame first; frames whose own file is here open in the editor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from studio.texts import t
from ui.timeline.panes.list_model import LONGEST_TIP, single_line
from ui.widgets import theme
from ui.widgets.basic import label, text_button
from ui.widgets.localized import localize
from ui.widgets.plain_tip import plain_tip

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent

    from backends.timeline.query.source_files import Match
    from backends.timeline.query.stack import StackFrame

ROW = 22
HINTS: dict[Match, str] = {
    "same": "timeline.slice.open_source",
    "other": "timeline.slice.other_source",
    "missing": "timeline.slice.not_here",
}


class StackList(QWidget):
    """Hidden where there is no stack. `source_requested`: a file that exists on this machine, and a line.
    `folder_requested`: the user wants to say where the sources are."""

    source_requested = Signal(Path, int)
    folder_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.frames: tuple[StackFrame, ...] = ()
        self.list = _Frames()
        self.list.setObjectName("timeline_stack")
        self.list.setFrameShape(QListWidget.Shape.NoFrame)
        self.list.setStyleSheet(
            "QListWidget, QListWidget:focus { border: none; border-radius: 0; }"
            f" QListView::item {{ min-height: {ROW}px; padding: 0 4px; }}"
        )
        self.list.setUniformItemSizes(True)
        self.list.setTextElideMode(Qt.TextElideMode.ElideLeft)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        localize(self.list.setAccessibleName, "timeline.slice.stack")
        self.list.itemClicked.connect(self._open)
        theme.notifier().changed.connect(self._fill)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        self.folder = text_button("timeline.slice.choose_sources", "timeline_sources")
        self.folder.clicked.connect(self.folder_requested)
        head = QHBoxLayout()
        head.addWidget(label("timeline.slice.stack", "strong"))
        head.addStretch(1)
        head.addWidget(self.folder)
        column.addLayout(head)
        column.addWidget(self.list, 1)
        self.hide()

    def show_frames(self, frames: tuple[StackFrame, ...]) -> None:
        self.frames = frames
        self.setVisible(bool(frames))
        self.folder.setVisible(any(frame.path is not None and frame.match != "same" for frame in frames))
        self._fill()

    def _fill(self) -> None:
        self.list.clear()
        for frame in self.frames:
            self.list.addItem(_item(frame))

    def _open(self, item: QListWidgetItem) -> None:
        frame = self.frames[self.list.row(item)]
        if frame.match == "same" and frame.path is not None:
            self.source_requested.emit(frame.path, frame.line)


class _Frames(QListWidget):
    """A list in which Enter acts as a click."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentItem() is not None:
            self.itemClicked.emit(self.currentItem())
        else:
            super().keyPressEvent(event)


def _item(frame: StackFrame) -> QListWidgetItem:
    item = QListWidgetItem(single_line(frame.text))
    item.setSizeHint(QSize(0, ROW))
    item.setFont(theme.mono_font(12))
    item.setForeground(theme.color("accent" if frame.match == "same" else "text"))
    hint = t(HINTS[frame.match], path=str(frame.path)) if frame.path else ""
    item.setToolTip(plain_tip("\n".join(filter(None, (frame.text[:LONGEST_TIP], hint)))))
    return item
