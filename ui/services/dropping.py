"""Folders and files dragged onto the window: a cover says what can be dropped, then they are opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from ui.widgets.basic import Sentence, label
from ui.widgets.icons import show_icon

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QMimeData
    from PySide6.QtGui import QDragMoveEvent


def dropped_path(data: QMimeData) -> Path | None:
    """The first of the dropped things; a file of another host is taken by its name, and found missing later."""
    for url in data.urls():
        return Path(url.toLocalFile() or url.path() or url.toString())
    return None


class Dropping(QObject):
    """Takes drops for a window and calls `open_path`."""

    def __init__(self, window: QWidget, open_path: Callable[[Path], object]) -> None:
        super().__init__(window)
        self._window = window
        self._open = open_path
        self._cover = Cover(window)
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QDragEnterEvent) and event.mimeData().hasUrls():
            self._cover.show_over()
            event.acceptProposedAction()
            return True
        if event.type() == QEvent.Type.DragLeave:
            self._cover.hide()
        if event.type() == QEvent.Type.Drop and isinstance(event, QDropEvent):
            self._cover.hide()
            event.acceptProposedAction()
            if path := dropped_path(event.mimeData()):
                self._open(path)
            return True
        return super().eventFilter(watched, event)


class DropTarget(QFrame):
    """A part of the window that takes drops for itself."""

    path_dropped = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setAcceptDrops(True)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        if path := dropped_path(event.mimeData()):
            self.path_dropped.emit(path)


class Cover(QFrame):
    """Lies over the window while something hovers; the mouse sees through it."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setObjectName("drop_cover")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        column = QVBoxLayout(self)
        column.addStretch(1)
        picture = QLabel()
        picture.setFixedSize(40, 40)
        show_icon(picture, "download", "accent", 40)
        why = Sentence("drop.here_why")
        why.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        for widget in (picture, label("drop.here", "page_title")):
            column.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(why)
        column.addStretch(1)
        self.hide()

    def show_over(self) -> None:
        self.setGeometry(self._window.rect().adjusted(16, 16, -16, -16))
        self.show()
        self.raise_()
