"""One option of a user's script: its flag, an input, and its own help text. None of these texts is in our catalogue."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from backends.launch.own.options import config_files
from backends.launch.own.options.script_globals import CONFIG
from studio.texts import t
from ui.form.inputs import SWITCH
from ui.services.file_dialogs import ask_file, ask_folder
from ui.widgets.basic import (
    Elided,
    Sentence,
    label,
    mono_font,
    retone,
    show_icon,
)
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from PySide6.QtGui import QWheelEvent

    from backends.launch.own.options.option import Option, Value

LONGEST_HINT = 90
FLAGS = ("on", "off", "both")
_FOLDER = re.compile(r"(^|[-_.])(dir|directory|folder|root)s?$")


class _Choice(QComboBox):
    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scrolling the page over a choice must not change it."""
        event.ignore()


class OptionBox(QWidget):
    """`value()` is None where the line does not name the option, so that the script's own default holds. `folder`:
    where the script starts, which its paths are seen from."""

    edited = Signal()

    def __init__(self, option: Option) -> None:
        super().__init__()
        self.option = option
        self.folder = Path()
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
        column.addLayout(self._make_row())
        self._hint = self._make_hint()
        column.addWidget(self._hint)
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

    def _make_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(self.input, 1)
        if isinstance(self.input, QLineEdit) and self._is_path():
            browse = QPushButton()
            browse.setObjectName(f"own_option.{self.option.name}.browse")
            browse.setFixedWidth(40)
            browse.setIconSize(QSize(16, 16))
            show_icon(browse, "folder-open", "dim")
            localize(browse.setToolTip, "form.browse")
            localize(browse.setAccessibleName, "form.browse")
            browse.clicked.connect(self._browse)
            row.addWidget(browse)
        return row

    def _is_path(self) -> bool:
        option = self.option
        return (
            option.kind == "path" or self._is_config() or (option.kind == "text" and config_files.is_name(option.name))
        )

    def _is_config(self) -> bool:
        return self.option.positional and self.option.kind == "list" and self.option.name == CONFIG

    def _browse(self) -> None:
        wants = ask_folder if _FOLDER.search(self.option.name.lower()) else ask_file
        wants(self, t("form.browse"), self.folder, self._chosen)

    def _chosen(self, path: Path) -> None:
        """As the script will see it; a file of the folder that it starts in by its name there."""
        name = path.relative_to(self.folder) if path.is_relative_to(self.folder) else path
        assert isinstance(self.input, QLineEdit)
        self.input.setText(shlex.quote(str(name)) if self.option.kind == "list" else str(name))
        self.edited.emit()

    def _make_hint(self) -> QLabel:
        """A long help in its first words, whole in the tooltip."""
        hint = Sentence()
        hint.setProperty("role", "hint")
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        hint.setSizePolicy(policy)
        self._show_hint(hint)
        return hint

    def _show_hint(self, hint: QLabel) -> None:
        text, path = self.option.help, self.option.path
        if path and self.option.form == "equals":
            text = t("own_script.set_by", file=Path(path).name) + (f" {text}" if text else "")
        elif self._is_config():
            text = t("own_script.config_words")
        hint.setText(text if len(text) <= LONGEST_HINT else text[:LONGEST_HINT].rsplit(" ", 1)[0] + " …")
        hint.setToolTip(text if len(text) > LONGEST_HINT else "")
        hint.setVisible(bool(text))

    def show_option(self, option: Option) -> None:
        """The same option, with another default."""
        self.option = option
        self.retranslate()

    def _make_input(self) -> QLineEdit | QComboBox | QCheckBox:
        if self.option.form in FLAGS:
            return self._make_switch()
        if self.option.kind == "bool":
            return self._make_choice(((self.option.yes, True), (self.option.no, False)))
        if self.option.choices and self.option.kind != "list":
            return self._make_choice(tuple((choice, choice) for choice in self.option.choices))
        widget = QLineEdit()
        widget.setMinimumWidth(110)
        widget.setPlaceholderText(_unbroken(self._default_text()))
        widget.textEdited.connect(self.edited)
        return widget

    def _make_switch(self) -> QCheckBox:
        widget = QCheckBox()
        widget.setProperty("role", "switch")
        widget.setMinimumHeight(SWITCH)
        widget.setChecked(self.option.default is True)
        widget.toggled.connect(self._show_switch)
        widget.clicked.connect(self.edited)
        localize(widget.setText, "form.on" if widget.isChecked() else "form.off")
        return widget

    def _show_switch(self, on: bool) -> None:
        assert isinstance(self.input, QCheckBox)
        localize(self.input.setText, "form.on" if on else "form.off")

    def _make_choice(self, entries: tuple[tuple[str, str | bool], ...]) -> QComboBox:
        widget = _Choice()
        widget.setMinimumWidth(110)
        widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        widget.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        widget.addItem(self._no_choice(), None)
        for text, value in entries:
            widget.addItem(text, value)
        widget.activated.connect(self.edited)
        return widget

    def _default_text(self) -> str:
        default = self.option.default
        if isinstance(default, tuple):
            return shlex.join(default)
        return self.option.default_source if default is None else str(default)

    def _no_choice(self) -> str:
        text = self._default_text()
        return t("own_script.default", value=_unbroken(text)) if text else t("own_script.not_given")

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
        """Also where the default is another one."""
        if isinstance(self.input, QComboBox):
            self.input.setItemText(0, self._no_choice())
        elif isinstance(self.input, QLineEdit):
            self.input.setPlaceholderText(_unbroken(self._default_text()))
        self._show_hint(self._hint)


def _unbroken(text: str) -> str:
    return text if text.isprintable() else repr(text)[1:-1]


def _words(text: str) -> tuple[str, ...]:
    """While a quote is not closed, the text is one word."""
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return (text,)
