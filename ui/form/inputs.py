"""The inputs of a form, one for each kind of field. Each has `value()`, `show_value()`, `show_implied()`,
`show_wrong()`, the widget to `focus`, and tells `edited` when a person changed it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

from studio import schema
from studio.texts import t
from ui.form.pairs_input import PairsInput
from ui.form.words_input import WordsInput
from ui.services.file_dialogs import ask_file, ask_folder
from ui.widgets.basic import retone, show_icon
from ui.widgets.localized import localize
from ui.widgets.plain_tip import plain_tip

if TYPE_CHECKING:
    from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent, QPaintEvent, QResizeEvent, QWheelEvent

    from studio.schema import Field

SWITCH = 31
"""As high as the other inputs, so that hints in a row stand at one height."""


class LineInput(QLineEdit):
    """Text, whole numbers and numbers, with the unit at the right inside. Wrong input is marked, not prevented."""

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
        self._lay_out_unit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out_unit()

    def _lay_out_unit(self) -> None:
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
    """A choice by its names; where it may follow from other fields, the first entry shows what follows."""

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
        self.activated.connect(lambda _index: self.edited.emit())
        self.offer(field.choices, None)

    def whole_text(self) -> str:
        return self.currentText()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the name shortened where its column is too narrow for it: how wide it is depends on the font."""
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        whole = QStyle.ComplexControl.CC_ComboBox
        room = self.style().subControlRect(whole, option, QStyle.SubControl.SC_ComboBoxEditField, self).width()
        option.currentText = self.fontMetrics().elidedText(option.currentText, Qt.TextElideMode.ElideRight, room)
        painter.drawComplexControl(whole, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        self.setToolTip(plain_tip(self.currentText()) if option.currentText != self.currentText() else "")

    def value(self) -> Any:
        return self.currentData()

    def offer(self, choices: tuple[str, ...], value: str | None) -> None:
        """Show these choices; also the value that a spec from elsewhere has, as it is wrong and said to be so."""
        values = ((None,) if self._field.optional else ()) + choices
        values += () if value is None or value in choices else (value,)
        if values == tuple(self.itemData(index) for index in range(self.count())):
            return
        self.clear()
        for offered in values:
            self.addItem("", offered)
        self.retranslate()

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
    """On or off, with the word next to the box."""

    edited = Signal()

    def __init__(self, field: Field) -> None:
        super().__init__()
        self.focus: QWidget = self
        self.setProperty("role", "switch")
        self.setMinimumHeight(SWITCH)
        self.clicked.connect(lambda _on: self.edited.emit())
        self.toggled.connect(self._show_switch)
        self._show_switch(False)

    def value(self) -> bool:
        return self.isChecked()

    def show_value(self, value: Any) -> None:
        self.setChecked(bool(value))

    def show_implied(self, text: str) -> None:
        pass

    def show_wrong(self, wrong: bool) -> None:
        retone(self, "wrong", "true" if wrong else "false")

    def _show_switch(self, on: bool) -> None:
        localize(self.setText, "form.on" if on else "form.off")


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
    """A path that is typed, dropped or browsed for."""

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
        localize(browse.setToolTip, "form.browse")
        localize(browse.setAccessibleName, "form.browse")
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
        choose = ask_file if self._field.wants == "file" else ask_folder
        choose(self, t("form.browse"), Path(self._line.text() or Path.home()), self._chosen)

    def _chosen(self, path: Path) -> None:
        self._line.setText(str(path))
        self.edited.emit()


Input = LineInput | ChoiceInput | SwitchInput | PathInput | PairsInput | WordsInput


def input_of(field: Field, feature: str) -> Input:
    """The input for a field of a feature's spec."""
    if field.kind == "choice":
        return ChoiceInput(field, feature)
    if field.kind == "switch":
        return SwitchInput(field)
    if field.kind == "path":
        return PathInput(field)
    if field.kind == "line":
        return WordsInput(field)
    return PairsInput(field) if field.kind == "pairs" else LineInput(field)
