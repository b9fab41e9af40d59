"""Asks for a folder or a file with Qt's dialog, without waiting in a loop of its own, in the studio's language."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from studio.texts import t

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    Chosen = Callable[[Path], object]


def ask_folder(owner: QWidget, title: str, start: Path, chosen: Chosen) -> QFileDialog:
    """Ask for a folder. `title` is a translated text. `chosen` is called with the answer; nothing happens on Cancel."""
    dialog = _dialog(owner, title, start, chosen)
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    dialog.open()
    return dialog


def ask_file(owner: QWidget, title: str, start: Path, chosen: Chosen) -> QFileDialog:
    dialog = _dialog(owner, title, start, chosen)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    dialog.open()
    return dialog


def choose_new_file(owner: QWidget, title: str, start: Path, suffix: str, chosen: Chosen) -> QFileDialog:
    """`start`: a proposed file. A name without a suffix gets `suffix`; Qt asks before a file is replaced."""
    dialog = _dialog(owner, title, start.parent, chosen)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setFileMode(QFileDialog.FileMode.AnyFile)
    dialog.setDefaultSuffix(suffix)
    dialog.selectFile(start.name)
    dialog.open()
    return dialog


def _dialog(owner: QWidget, title: str, start: Path, chosen: Chosen) -> QFileDialog:
    dialog = QFileDialog(owner.window(), title, str(start))
    dialog.setObjectName("file_dialog")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    # Qt's own Chinese lacks these two.
    dialog.setLabelText(QFileDialog.DialogLabel.LookIn, t("file_dialog.look_in"))
    dialog.setLabelText(QFileDialog.DialogLabel.FileType, t("file_dialog.type"))
    dialog.fileSelected.connect(lambda path: chosen(Path(path)))
    return dialog
