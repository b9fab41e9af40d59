"""The choice of a file, a folder or a run: one that is listed, or another by dialog or drop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from studio.texts import t
from ui.precision.elided_combo import ElidedComboBox
from ui.services.dropping import DropTarget
from ui.services.file_dialogs import ask_file, ask_folder
from ui.widgets.basic import (
    Elided,
    button,
    label,
    mono_font,
    show_icon,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


class PathChoice(DropTarget):
    """`name` is its object name; `kind` is 'file' or 'folder'."""

    chosen = Signal()

    def __init__(self, name: str, title_key: str, kind: str = "file") -> None:
        super().__init__()
        self.path_dropped.connect(self._take)
        self.path: Path | None = None
        self._kind = kind
        self._choices: Sequence[tuple[str, Path]] = ()
        self.choice = ElidedComboBox(name, title_key)
        self.choice.activated.connect(self._activated)
        browse = button("precision.start.folder" if kind == "folder" else "precision.more.file", f"{name}_browse")
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

    def show_choices(self, choices: Sequence[tuple[str, Path]]) -> None:
        """Offer pairs of name and path. A chosen path stays, also where it is no longer among them."""
        if choices != self._choices:
            self._choices = choices
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
        open_dialog = ask_folder if self._kind == "folder" else ask_file
        open_dialog(self, t("form.browse"), self.path.parent if self.path else Path.home(), self._take)

    def retranslate(self) -> None:
        entries: list[tuple[str, Path | None]] = [(t("precision.more.choose"), None), *self._choices]
        if self.path not in [path for _, path in entries]:
            entries.append((self.path.name if self.path else "", self.path))
        self.choice.show_entries(entries, [path for _, path in entries].index(self.path))
        self._path.setText(str(self.path or ""))
        self._path.setVisible(self.path is not None)
