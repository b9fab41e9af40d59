"""One option of a user's script: its flag, an input, and what its own help says. Nothing of it is in our catalogue."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLabel, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from studio.texts import t
from ui.inputs import SWITCH
from ui.say import say
from ui.widgets import Elided, label, mono_font, retone

if TYPE_CHECKING:
    from PySide6.QtGui import QWheelEvent

    from backends.launch.own.option import Option, Value

LONGEST_HINT = 90
FLAGS = ("on", "off", "both")


class _Choice(QComboBox):
    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scrolling the page over a choice must not change it."""
        event.ignore()


class OptionBox(QWidget):
    """`value()` is None where the line does not name the option, so that the script's own default holds."""

    edited = Signal()

    def __init__(self, option: Option) -> None:
        super().__init__()
        self.option = option
        self.setObjectName(f"own_option.{option.name}.box")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setMinimumWidth(110)
        self.input = self._make_input()
        self.input.setObjectName(f"own_option.{option.name}")
        self.input.setAccessibleName(option.flag)
        self.input.setAccessibleDescription(option.help)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(5)
        column.addLayout(self._make_name())
        column.addWidget(self.input)
        column.addWidget(self._make_hint())
        column.addStretch(1)

    def _make_name(self) -> QHBoxLayout:
        name = Elided()
        name.setFont(mono_font())
        name.setText(self.option.flag)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(name)
        if self.option.required:
            row.addWidget(label("own_script.required", "warning"))
        row.addStretch(1)
        return row

    def _make_hint(self) -> QLabel:
        """A long help in its first words, whole in the tooltip."""
        text = self.option.help
        hint = label(role="hint")
        hint.setWordWrap(True)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        hint.setSizePolicy(policy)
        hint.setText(text if len(text) <= LONGEST_HINT else text[:LONGEST_HINT].rsplit(" ", 1)[0] + " …")
        hint.setToolTip(text if len(text) > LONGEST_HINT else "")
        hint.setVisible(bool(text))
        return hint

    def _make_input(self) -> QLineEdit | QComboBox | QCheckBox:
        if self.option.form in FLAGS:
            return self._make_switch()
        if self.option.kind == "bool":
            return self._make_choice(((self.option.yes, True), (self.option.no, False)))
        if self.option.choices and self.option.kind != "list":
            return self._make_choice(tuple((choice, choice) for choice in self.option.choices))
        made = QLineEdit()
        made.setMinimumWidth(110)
        made.setPlaceholderText(self._default_text())
        made.textEdited.connect(self.edited)
        return made

    def _make_switch(self) -> QCheckBox:
        made = QCheckBox()
        made.setProperty("role", "switch")
        made.setMinimumHeight(SWITCH)
        made.setChecked(self.option.default is True)
        made.toggled.connect(self._say_switch)
        made.clicked.connect(self.edited)
        say(made, "setText", "form.on" if made.isChecked() else "form.off")
        return made

    def _say_switch(self, on: bool) -> None:
        say(self.input, "setText", "form.on" if on else "form.off")

    def _make_choice(self, entries: tuple[tuple[str, str | bool], ...]) -> QComboBox:
        made = _Choice()
        made.setMinimumWidth(110)
        made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        made.addItem(self._no_choice(), None)
        for text, value in entries:
            made.addItem(text, value)
        made.activated.connect(self.edited)
        return made

    def _default_text(self) -> str:
        default = self.option.default
        if isinstance(default, tuple):
            return shlex.join(default)
        return self.option.default_source if default is None else str(default)

    def _no_choice(self) -> str:
        text = self._default_text()
        return t("own_script.default", value=text) if text else t("own_script.not_given")

    def value(self) -> Value | None:
        if isinstance(self.input, QCheckBox):
            on = self.input.isChecked()
            return None if on is (self.option.default is True) else on
        if isinstance(self.input, QComboBox):
            chosen: str | bool | None = self.input.currentData()
            return chosen
        text = self.input.text().strip()
        if not text:
            return None
        return _words(text) if self.option.kind == "list" else text

    def show_value(self, value: Value | None) -> None:
        if isinstance(self.input, QCheckBox):
            self.input.setChecked(self.option.default is True if value is None else value is True)
        elif isinstance(self.input, QComboBox):
            self.input.setCurrentIndex(max(0, self.input.findData(value)))
        elif value != self.value():
            text = shlex.join(value) if isinstance(value, tuple) else "" if value is None else str(value)
            self.input.setText(text)
        missing = self.option.required and value is None
        retone(self.input, "wrong", "true" if missing else "false")

    def retranslate(self) -> None:
        if isinstance(self.input, QComboBox):
            self.input.setItemText(0, self._no_choice())


def _words(text: str) -> tuple[str, ...]:
    """While a quote is not closed, the text is one word."""
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return (text,)
