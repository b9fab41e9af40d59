"""The values of a configuration file that the command line passes to a script: shown, and changed only in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from studio.texts import t
from ui.form.section import COLUMNS
from ui.widgets.basic import (
    GAP,
    Elided,
    Sentence,
    label,
    mono_font,
    text_button,
)
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from backends.launch.own.options.config_files import Config, Setting

FEW = 12


class ConfigBox(QWidget):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.setObjectName(f"own_config.{config.path.name}")
        self._title, self._hint, self._trouble = label(role="strong"), Sentence("own_script.config_hint"), Sentence()
        self._hint.setProperty("role", "hint")
        self._more = text_button("", "own_config_more")
        self._more.clicked.connect(self._show_all)
        self._open = text_button("own_script.open_config", "own_script.open_config")
        localize(self._open.setToolTip, "own_script.open_config_hint")
        self._open.clicked.connect(self._open_file)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(GAP)
        for index in range(COLUMNS):
            self._grid.setColumnStretch(index, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        column.addLayout(self._make_head())
        column.addWidget(self._hint)
        column.addWidget(self._trouble)
        column.addLayout(self._grid)
        self._visible_count = 0
        self._add_cells(FEW)
        self.retranslate()

    def _make_head(self) -> QHBoxLayout:
        head = QHBoxLayout()
        head.setSpacing(10)
        head.addWidget(self._title)
        head.addStretch(1)
        head.addWidget(self._more)
        head.addWidget(self._open)
        return head

    def _add_cells(self, end: int) -> None:
        for column, setting in enumerate(self.config.settings[self._visible_count : end], self._visible_count):
            self._grid.addWidget(_Cell(setting), column // COLUMNS, column % COLUMNS)
            self._visible_count = column + 1

    def _show_all(self) -> None:
        self._add_cells(len(self.config.settings))
        self.retranslate()

    def _open_file(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.config.path)))

    def retranslate(self) -> None:
        config = self.config
        self._title.setText(t("own_script.config", file=config.path.name))
        self._title.setToolTip(str(config.path))
        self._hint.setVisible(config.reason is None)
        self._open.setVisible(config.reason is None)
        self._more.setVisible(self._visible_count < len(config.settings))
        self._more.setText(t("own_script.more_options", count=len(config.settings)))
        is_all = self._visible_count == len(config.settings)
        left = t("own_script.more_in_file", count=config.left) if config.left and is_all else ""
        self._trouble.setText(str(config.reason) if config.reason else left)
        self._trouble.setVisible(bool(self._trouble.text()))


class _Cell(QWidget):
    def __init__(self, setting: Setting) -> None:
        super().__init__()
        self._setting = setting
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setMinimumWidth(110)
        # The ends of long keys tell them apart.
        name, self._value = Elided(Qt.TextElideMode.ElideMiddle, "dim"), Elided(Qt.TextElideMode.ElideMiddle)
        name.setFont(mono_font())
        name.setText(setting.key)
        self._value.setFont(mono_font())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        column.addWidget(name)
        column.addWidget(self._value)
        column.addStretch(1)
        self.retranslate()

    def retranslate(self) -> None:
        hidden = self._setting.is_hidden
        self._value.setText(t("own_script.config_hidden") if hidden else self._setting.value or "–")
