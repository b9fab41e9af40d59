"""Rows of KEY = VALUE, such as environment variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from studio import schema
from ui.widgets.basic import label, retone, show_icon
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from studio.schema import Field


class PairRow(QWidget):
    edited = Signal()
    removed = Signal()

    def __init__(self, key: str, value: str) -> None:
        super().__init__()
        self.key, self.text = QLineEdit(key), QLineEdit(value)
        for line, name in ((self.key, "form.pair_key"), (self.text, "form.pair_value")):
            localize(line.setPlaceholderText, name)
            localize(line.setAccessibleName, name)
            line.textEdited.connect(self.edited)
        self.remove = QPushButton()
        self.remove.setFixedWidth(40)
        self.remove.setIconSize(QSize(16, 16))
        show_icon(self.remove, "close", "dim")
        localize(self.remove.setToolTip, "form.pair_remove")
        localize(self.remove.setAccessibleName, "form.pair_remove")
        self.remove.clicked.connect(self.removed)
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(0, 0, 0, 0)
        self.row.setSpacing(6)
        self._lay_out_rows()

    def _lay_out_rows(self) -> None:
        self.row.addWidget(self.key, 2)
        self.row.addWidget(label("form.pair_is", "dim"))
        self.row.addWidget(self.text, 3)
        self.row.addWidget(self.remove)

    def is_empty(self) -> bool:
        return not self.key.text().strip() and not self.text.text()


class PairsInput(QWidget):
    """Rows of KEY = VALUE; empty rows count as none."""

    edited = Signal()

    def __init__(self, field: Field) -> None:
        super().__init__()
        self._field = field
        self._rows: list[PairRow] = []
        self._add = QPushButton()
        self._add.setProperty("role", "text")
        show_icon(self._add, "add", "accent", 16)
        localize(self._add.setText, "form.pair_add")
        self._add.clicked.connect(lambda: self._append("", "").key.setFocus())
        self.focus: QWidget = self._add
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(6)
        self._column.addWidget(self._add, 0, Qt.AlignmentFlag.AlignLeft)

    def value(self) -> tuple[tuple[str, str], ...]:
        """Raises schema.Unreadable."""
        filled = [row for row in self._rows if not row.is_empty()]
        return tuple(schema.pair(self._field, f"{row.key.text()}={row.text.text()}") for row in filled)

    def show_value(self, value: Any) -> None:
        for row in tuple(self._rows):
            self._drop(row)
        for key, text in value:
            self._append(key, text)

    def show_implied(self, text: str) -> None:
        pass

    def show_wrong(self, wrong: bool) -> None:
        for row in self._rows:
            for line in (row.key, row.text):
                retone(line, "wrong", "true" if wrong else "false")

    def make_row(self, key: str, text: str) -> PairRow:
        return PairRow(key, text)

    def _append(self, key: str, text: str) -> PairRow:
        row = self.make_row(key, text)
        row.edited.connect(self.edited)
        row.removed.connect(lambda: self._remove(row))
        self._rows.append(row)
        self._column.insertWidget(self._column.indexOf(self._add), row)
        return row

    def _remove(self, row: PairRow) -> None:
        self._drop(row)
        self._add.setFocus()
        self.edited.emit()

    def _drop(self, row: PairRow) -> None:
        self._rows.remove(row)
        self._column.removeWidget(row)
        row.hide()
        row.deleteLater()
