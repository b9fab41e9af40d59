"""A file, a folder or a run: one of those that are known, or another that is looked for or dropped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from studio.texts import t
from ui.dropping import DropTarget
from ui.file_dialogs import ask_file, ask_folder
from ui.precision.place_box import PlaceBox
from ui.widgets import Elided, button, label, mono_font, show_icon

if TYPE_CHECKING:
    from collections.abc import Sequence


class PathChoice(DropTarget):
    """`name`: of its objects; `wants`: a file or a folder."""

    chosen = Signal()

    def __init__(self, name: str, title_key: str, wants: str = "file") -> None:
        super().__init__()
        self.path_dropped.connect(self._take)
        self.path: Path | None = None
        self._wants = wants
        self._known: Sequence[tuple[str, Path]] = ()
        self.choice = PlaceBox(name, title_key)
        self.choice.activated.connect(self._activated)
        browse = button("precision.start.folder" if wants == "folder" else "precision.more.file", f"{name}_browse")
        show_icon(browse, "folder-open", "dim", 16)
        browse.clicked.connect(self._browse)
        self._path = Elided(role="hint")
        self._path.setFont(mono_font(12))
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.choice, 1)
        row.addWidget(browse)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(5)
        column.addWidget(label(title_key, "strong"))
        column.addLayout(row)
        column.addWidget(self._path)
        column.addStretch(1)
        self.retranslate()

    def show_known(self, known: Sequence[tuple[str, Path]]) -> None:
        """Names and paths. What was chosen stays, also where it is not among them any more."""
        if known != self._known:
            self._known = known
            self.retranslate()

    def show_path(self, path: Path | None) -> None:
        self.path = path
        self.retranslate()

    def _take(self, path: Path) -> None:
        self.show_path(path)
        self.chosen.emit()

    def _activated(self, index: int) -> None:
        self.show_path(self.choice.itemData(index))
        self.chosen.emit()

    def _browse(self) -> None:
        ask = ask_folder if self._wants == "folder" else ask_file
        ask(self, t("form.browse"), self.path.parent if self.path else Path.home(), self._take)

    def retranslate(self) -> None:
        entries: list[tuple[str, Path | None]] = [(t("precision.more.choose"), None), *self._known]
        if self.path not in [path for _, path in entries]:
            entries.append((self.path.name if self.path else "", self.path))
        self.choice.show_entries(entries, [path for _, path in entries].index(self.path))
        self._path.setText(str(self.path or ""))
        self._path.setVisible(self.path is not None)
