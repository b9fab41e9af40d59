"""One side of a comparison: a capture of a run of the project, or a folder from elsewhere, chosen or dropped."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from studio.errors import StudioError
from studio.texts import t
from ui.asking import ask
from ui.dropping import DropTarget
from ui.file_dialogs import ask_folder
from ui.precision.captures import Capture, name_of, read_capture, words_of
from ui.precision.place_box import PlaceBox
from ui.widgets import Elided, Sentence, button, label, mono_font, retone, show_icon

if TYPE_CHECKING:
    from collections.abc import Iterable


class SideInput(DropTarget):
    """`side`: 'target', 'golden' or 'again', also the name of its texts. `chosen`: somebody chose, or cleared it."""

    chosen = Signal()

    def __init__(self, side: str, title_key: str, hint_key: str) -> None:
        super().__init__()
        self.setObjectName(f"precision_side_{side}")
        self.setProperty("role", "drop")
        self.path_dropped.connect(self.show_path)
        self.capture: Capture | None = None
        self._known: tuple[Capture, ...] = ()
        self._others: tuple[Capture, ...] = ()
        self._error: StudioError | None = None
        self._turn = 0
        self.choice = PlaceBox(f"precision_{side}", title_key)
        self.choice.activated.connect(self._activated)
        self.browse = button("precision.start.folder", f"precision_{side}_folder")
        show_icon(self.browse, "folder-open", "dim", 16)
        self.browse.clicked.connect(self._ask_folder)
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

    # What can be chosen

    def show_captures(self, captures: Iterable[Capture]) -> None:
        """Those of the project; what was brought from elsewhere stays beside them. A chosen one is read anew."""
        self._known = tuple(captures)
        if self.capture is not None:
            newer = next((one for one in self._known if one.path == self.capture.path), None)
            self.capture = newer or self.capture
        self.retranslate()

    def show_path(self, path: Path) -> None:
        """A folder or a file from outside: read first, in another thread."""
        self._turn += 1
        ask(self, partial(read_capture, path), partial(self._read, self._turn))

    def _read(self, turn: int, found: Capture | StudioError) -> None:
        if turn != self._turn:
            return
        self._error = found if isinstance(found, StudioError) else None
        if isinstance(found, Capture):
            known = next((one for one in self._known if one.path == found.path), None)
            if known is None:
                self._others = (found, *(one for one in self._others if one.path != found.path))
            self.capture = known or found
        self.retranslate()
        self.chosen.emit()

    def show_capture(self, capture: Capture | None) -> None:
        self._turn += 1
        self.capture, self._error = capture, None
        if capture is not None and capture not in (*self._known, *self._others):
            self._others = (capture, *self._others)
        self.retranslate()

    def _activated(self, index: int) -> None:
        self.show_capture(self.choice.itemData(index))
        self.chosen.emit()

    def _ask_folder(self) -> None:
        start = self.capture.path.parent if self.capture else Path.home()
        ask_folder(self, t("precision.start.folder_title"), start, self.show_path)

    # What is shown

    def retranslate(self) -> None:
        self._fill()
        found, error = self.capture, self._error
        self._path.setText(str(found.path) if found and not error else "")
        self._path.setVisible(bool(self._path.whole_text()))
        said = str(error) if error else words_of(found) if found else t("precision.start.none_chosen")
        self._words.setText(said)
        retone(self._words, "role", "bad" if error else "dim")

    def _fill(self) -> None:
        captures = (*self._known, *self._others)
        shown = [one.path for one in captures]
        entries = [(t("precision.start.choose"), None), *((name_of(one), one) for one in captures)]
        at = shown.index(self.capture.path) + 1 if self.capture and self.capture.path in shown else 0
        self.choice.show_entries(entries, at)
