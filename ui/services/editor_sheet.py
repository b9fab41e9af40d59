"""Which editor opens a file at a line."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit

from studio.errors import from_os
from studio.texts import t
from ui.services import editor
from ui.widgets.basic import (
    Sentence,
    label,
    primary_button,
    retone,
)
from ui.widgets.popover import Popover

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from ui.services.session import Session


class EditorSheet(Popover):
    """`then` is called with the line once it is remembered."""

    def __init__(self, owner: QWidget, session: Session, then: Callable[[tuple[str, ...]], object]) -> None:
        super().__init__(owner, "editor_sheet", 420)
        self._session, self._then = session, then
        self.column.addWidget(label("editor.title", "title"))
        self.column.addWidget(Sentence("editor.text"))
        self.field = QLineEdit(shlex.join(editor.chosen()))
        self.field.setObjectName("editor_line")
        self.field.setAccessibleName(t("editor.title"))
        self.field.setPlaceholderText("code --goto {path}:{line}")
        self.field.textChanged.connect(self._judge)
        self.field.returnPressed.connect(self._keep)
        self.column.addWidget(self.field)
        self._installed = Sentence()
        names = ", ".join(line[0] for line in editor.installed())
        self._installed.setText(t("editor.found", names=names) if names else t("editor.none_found"))
        self.column.addWidget(self._installed)
        self.keep = primary_button("editor.keep", "editor.keep")
        self.keep.clicked.connect(self._keep)
        self.column.addWidget(self.keep, 0, Qt.AlignmentFlag.AlignRight)
        self._judge()

    def _words(self) -> tuple[str, ...]:
        try:
            return editor.words_of(self.field.text())
        except ValueError:
            return ()

    def _judge(self) -> None:
        is_right = bool(self._words())
        retone(self.field, "wrong", bool(self.field.text()) and not is_right)
        self.keep.setEnabled(is_right)

    def _keep(self) -> None:
        words = self._words()
        if not words:
            return
        self.close()
        try:
            editor.remember(words)
        except OSError as error:
            self._session.trouble.emit(from_os(error, "editor.json"))
        self._then(words)
