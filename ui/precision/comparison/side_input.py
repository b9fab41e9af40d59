"""One side of a comparison: a capture of the project's runs, or a folder from elsewhere that is chosen or dropped."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from studio.errors import StudioError
from studio.texts import t
from ui.precision.captures import Capture, capture_name, describe_capture, read_capture
from ui.precision.elided_combo import ElidedComboBox
from ui.services.background import run_in_background
from ui.services.dropping import DropTarget
from ui.services.file_dialogs import ask_folder
from ui.widgets.basic import (
    Elided,
    Sentence,
    button,
    label,
    mono_font,
    retone,
    show_icon,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


class SideInput(DropTarget):
    """`side` is 'target', 'golden' or 'again', also in the keys of its texts. `chosen`: the user chose or cleared
    it."""

    chosen = Signal()

    def __init__(self, side: str, title_key: str, hint_key: str) -> None:
        super().__init__()
        self.setObjectName(f"precision_side_{side}")
        self.setProperty("role", "drop")
        self.path_dropped.connect(self.show_path)
        self.capture: Capture | None = None
        self._captures: tuple[Capture, ...] = ()
        self._others: tuple[Capture, ...] = ()
        self._error: StudioError | None = None
        self._request_number = 0
        self.choice = ElidedComboBox(f"precision_{side}", title_key)
        self.choice.activated.connect(self._activated)
        self.browse = button("precision.start.folder", f"precision_{side}_folder")
        show_icon(self.browse, "folder-open", "dim", 16)
        self.browse.clicked.connect(self._browse_folder)
        self._path, self._words = Elided(role="hint"), Sentence()
        self._path.setFont(mono_font(12))
        self._build(title_key, hint_key)
        self.retranslate()

    def _build(self, title_key: str, hint_key: str) -> None:
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.choice, 1)
        row.addWidget(self.browse)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(5)
        column.addWidget(label(title_key, "strong"))
        column.addWidget(Sentence(hint_key))
        column.addLayout(row)
        column.addWidget(self._path)
        column.addWidget(self._words)
        column.addStretch(1)

    def show_captures(self, captures: Iterable[Capture]) -> None:
        """Offer the captures of the project and the folders from elsewhere; a chosen capture is replaced by its newest
        reading."""
        self._captures = tuple(captures)
        if self.capture is not None:
            newer = next((capture for capture in self._captures if capture.path == self.capture.path), None)
            self.capture = newer or self.capture
        self.retranslate()

    def show_path(self, path: Path) -> None:
        """Choose a folder or file from elsewhere, once it has been read in another thread."""
        self._request_number += 1
        run_in_background(self, partial(read_capture, path), partial(self._read, self._request_number))

    def _read(self, turn: int, capture: Capture | StudioError) -> None:
        if turn != self._request_number:
            return
        self._error = capture if isinstance(capture, StudioError) else None
        if isinstance(capture, Capture):
            listed = next((entry for entry in self._captures if entry.path == capture.path), None)
            if listed is None:
                self._others = (capture, *(other for other in self._others if other.path != capture.path))
            self.capture = listed or capture
        self.retranslate()
        self.chosen.emit()

    def show_capture(self, capture: Capture | None) -> None:
        self._request_number += 1
        self.capture, self._error = capture, None
        if capture is not None and capture not in (*self._captures, *self._others):
            self._others = (capture, *self._others)
        self.retranslate()

    def _activated(self, index: int) -> None:
        self.show_capture(self.choice.itemData(index))
        self.chosen.emit()

    def _browse_folder(self) -> None:
        start = self.capture.path.parent if self.capture else Path.home()
        ask_folder(self, t("precision.start.folder_title"), start, self.show_path)

    def retranslate(self) -> None:
        self._fill()
        capture, error = self.capture, self._error
        self._path.setText(str(capture.path) if capture and not error else "")
        self._path.setVisible(bool(self._path.whole_text()))
        description = (
            str(error) if error else describe_capture(capture) if capture else t("precision.start.none_chosen")
        )
        self._words.setText(description)
        retone(self._words, "role", "bad" if error else "dim")

    def _fill(self) -> None:
        captures = (*self._captures, *self._others)
        paths = [entry.path for entry in captures]
        entries = [(t("precision.start.choose"), None), *((capture_name(capture), capture) for capture in captures)]
        at = paths.index(self.capture.path) + 1 if self.capture and self.capture.path in paths else 0
        self.choice.show_entries(entries, at)
