"""The inputs of a form, one for each kind of field. Each has `value()`, `show_value()`, `show_implied()`,
`show_wrong()`, the widget to `focus`, and tells `edited` when a person changed it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from studio import schema
from studio.texts import t
from ui.say import say
from ui.widgets import label, retone, show_icon

if TYPE_CHECKING:
    from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent, QResizeEvent, QWheelEvent

    from studio.schema import Field


class LineInput(QLineEdit):
    """Text, whole numbers and numbers, with the unit at the right inside. Said wrong, not hindered, while typing."""

    edited = Signal()

    def __init__(self, field: Field) -> None:
        super().__init__()
        self._field = field
        self.focus: QWidget = self
        self.setMinimumWidth(110)
        self._unit = QLabel(self)
        self._unit.setProperty("role", "unit")
        self._unit.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.textEdited.connect(self.edited)
        self.retranslate()

    def value(self) -> Any:
        """Raises schema.Unreadable."""
        return schema.parse(self._field, self.text())

    def show_value(self, value: Any) -> None:
        self.setText(_text(value))

    def show_implied(self, text: str) -> None:
        self.setPlaceholderText(text)

    def show_wrong(self, wrong: bool) -> None:
        retone(self, "wrong", "true" if wrong else "false")

    def retranslate(self) -> None:
        self._unit.setText(t(f"unit.{self._field.unit}") if self._field.unit else "")
        self._place_unit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_unit()

    def _place_unit(self) -> None:
        size = self._unit.sizeHint()
        self._unit.setGeometry(self.width() - size.width() - 11, 0, size.width(), self.height())
        self.setTextMargins(0, 0, size.width() + 6 if self._unit.text() else 0, 0)


def _text(value: Any) -> str:
    if value is None or value == Path():
        return ""
    if isinstance(value, float):
        return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    return str(value)


class ChoiceInput(QComboBox):
    """A choice by its names; where it may follow from others, the first entry says what follows."""

    edited = Signal()

    def __init__(self, field: Field, feature: str) -> None:
        super().__init__()
        self._field = field
        self._feature = feature
        self._implied = ""
        self.focus: QWidget = self
        self.setMinimumWidth(110)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        for value in ((None,) if field.optional else ()) + field.choices:
            self.addItem("", value)
        self.activated.connect(lambda _index: self.edited.emit())
        self.retranslate()

    def value(self) -> Any:
        return self.currentData()

    def show_value(self, value: Any) -> None:
        self.setCurrentIndex(max(0, self.findData(value)))

    def show_implied(self, text: str) -> None:
        self._implied = text
        self.retranslate()

    def show_wrong(self, wrong: bool) -> None:
        retone(self, "wrong", "true" if wrong else "false")

    def retranslate(self) -> None:
        for index in range(self.count()):
            value = self.itemData(index)
            key = f"{self._feature}.choice.{self._field.name}.{value}"
            self.setItemText(index, self._implied if value is None else t(key))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scrolling the page over a choice must not change it."""
        event.ignore()


class SwitchInput(QCheckBox):
    edited = Signal()

    def __init__(self, field: Field, feature: str) -> None:
        super().__init__()
        self.focus: QWidget = self
        say(self, "setText", f"{feature}.choice.{field.name}.on")
        self.clicked.connect(lambda _on: self.edited.emit())

    def value(self) -> bool:
        return self.isChecked()

    def show_value(self, value: Any) -> None:
        self.setChecked(bool(value))

    def show_implied(self, text: str) -> None:
        pass

    def show_wrong(self, wrong: bool) -> None:
        retone(self, "wrong", "true" if wrong else "false")


class _PathLine(LineInput):
    """A dropped file or folder is its path, not a file:// address."""

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():
            event.acceptProposedAction()
        else:
            super().dragEnterEvent(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        if event.mimeData().hasUrls():
            event.acceptProposedAction()
        else:
            super().dragMoveEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self.setText(paths[0])
            self.edited.emit()
        else:
            super().dropEvent(event)


class PathInput(QWidget):
    """A path typed, dropped or looked for."""

    edited = Signal()

    def __init__(self, field: Field) -> None:
        super().__init__()
        self._field = field
        self._line = _PathLine(field)
        self._line.edited.connect(self.edited)
        self.focus: QWidget = self._line
        browse = QPushButton()
        browse.setFixedWidth(40)
        browse.setIconSize(QSize(16, 16))
        show_icon(browse, "folder-open", "dim")
        say(browse, "setToolTip", "form.browse")
        say(browse, "setAccessibleName", "form.browse")
        browse.clicked.connect(self._browse)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(self._line, 1)
        row.addWidget(browse)
        self.setFocusProxy(self._line)

    def value(self) -> Any:
        """Raises schema.Unreadable."""
        return self._line.value()

    def show_value(self, value: Any) -> None:
        self._line.show_value(value)

    def show_implied(self, text: str) -> None:
        self._line.show_implied(text)

    def show_wrong(self, wrong: bool) -> None:
        self._line.show_wrong(wrong)

    def _browse(self) -> None:
        start = self._line.text() or str(Path.home())
        if self._field.wants == "folder":
            chosen = QFileDialog.getExistingDirectory(self, t("form.browse"), start)
        else:
            chosen, _ = QFileDialog.getOpenFileName(self, t("form.browse"), start)
        if chosen:
            self._line.setText(chosen)
            self.edited.emit()


class _PairRow(QWidget):
    edited = Signal()
    removed = Signal()

    def __init__(self, key: str, value: str) -> None:
        super().__init__()
        self.key, self.text = QLineEdit(key), QLineEdit(value)
        for line, name in ((self.key, "form.pair_key"), (self.text, "form.pair_value")):
            say(line, "setPlaceholderText", name)
            say(line, "setAccessibleName", name)
            line.textEdited.connect(self.edited)
        remove = QPushButton()
        remove.setFixedWidth(40)
        remove.setIconSize(QSize(16, 16))
        show_icon(remove, "close", "dim")
        say(remove, "setToolTip", "form.pair_remove")
        say(remove, "setAccessibleName", "form.pair_remove")
        remove.clicked.connect(self.removed)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(self.key, 2)
        row.addWidget(label("form.pair_is", "dim"))
        row.addWidget(self.text, 3)
        row.addWidget(remove)

    def is_empty(self) -> bool:
        return not self.key.text().strip() and not self.text.text()


class PairsInput(QWidget):
    """Rows of KEY = VALUE; empty rows count as none."""

    edited = Signal()

    def __init__(self, field: Field) -> None:
        super().__init__()
        self._field = field
        self._rows: list[_PairRow] = []
        self._add = QPushButton()
        self._add.setProperty("role", "text")
        show_icon(self._add, "add", "accent", 16)
        say(self._add, "setText", "form.pair_add")
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

    def _append(self, key: str, text: str) -> _PairRow:
        row = _PairRow(key, text)
        row.edited.connect(self.edited)
        row.removed.connect(lambda: self._remove(row))
        self._rows.append(row)
        self._column.insertWidget(len(self._rows) - 1, row)
        return row

    def _remove(self, row: _PairRow) -> None:
        self._drop(row)
        self._add.setFocus()
        self.edited.emit()

    def _drop(self, row: _PairRow) -> None:
        self._rows.remove(row)
        self._column.removeWidget(row)
        row.hide()
        row.deleteLater()


Input = LineInput | ChoiceInput | SwitchInput | PathInput | PairsInput


def input_of(field: Field, feature: str) -> Input:
    """The input for a field of a feature's spec."""
    if field.kind == "choice":
        return ChoiceInput(field, feature)
    if field.kind == "switch":
        return SwitchInput(field, feature)
    if field.kind == "path":
        return PathInput(field)
    return PairsInput(field) if field.kind == "pairs" else LineInput(field)
